"""ResNet-50 v1 in PyTorch, layer by layer what gluon.model_zoo.vision.resnet50_v1 is (stride in the first 1x1, biases on the 1x1 convolutions)."""
import torch
from torch import nn


class Bottleneck(nn.Module):
    def __init__(self, inputs, channels, stride, project):
        super().__init__()
        middle = channels // 4
        self.body = nn.Sequential(nn.Conv2d(inputs, middle, 1, stride), nn.BatchNorm2d(middle), nn.ReLU(inplace=True),
                                  nn.Conv2d(middle, middle, 3, 1, 1, bias=False), nn.BatchNorm2d(middle), nn.ReLU(inplace=True),
                                  nn.Conv2d(middle, channels, 1), nn.BatchNorm2d(channels))
        self.project = nn.Sequential(nn.Conv2d(inputs, channels, 1, stride, bias=False), nn.BatchNorm2d(channels)) if project else nn.Identity()

    def forward(self, x):
        return torch.relu(self.body(x) + self.project(x))


def resnet50_v1():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for stage, (blocks, channels) in enumerate(zip((3, 4, 6, 3), (256, 512, 1024, 2048))):
        for block in range(blocks):
            layers.append(Bottleneck(inputs, channels, 2 if stage and not block else 1, not block))
            inputs = channels
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))
