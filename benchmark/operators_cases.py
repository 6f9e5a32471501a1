"""Cases of operators.py: name, this library's expression, PyTorch's, and of LINALG SciPy's.
operators_arrays.py makes the arrays: g, h (rows x 3072), row, col, w (3072), img (8 x 64 x 56 x
56), q, k (96 x 128 x 64), ..."""

CALLS = [
    ("zeros", "nd.zeros((4, 5))", "torch.zeros((4, 5))"),
    ("full", "nd.full((4, 5), 2)", "torch.full((4, 5), 2.)"),
    ("array", "nd.array(values)", "torch.tensor(values)"),
    ("copy", "a.copy()", "a.clone()"), ("astype", "a.astype('float64')", "a.to(torch.float64)"),
    ("x[0]", "a[0]", "a[0]"), ("x[1:3]", "a[1:3]", "a[1:3]"),
    ("x[:, 2]", "a[:, 2]", "a[:, 2]"), ("x[indices]", "a[few]", "a[few]"),
    ("x[0] = number", "a.__setitem__(0, 1.0)", "a.__setitem__(0, 1.0)"),
    ("rows of an array", "[r for r in a]", "[r for r in a]"),
    ("one number", "vector[0].asscalar()", "vector[0].item()"), ("add", "a + b", "a + b"),
    ("add a number", "a + 1", "a + 1"),
    ("add in place", "a.__iadd__(b)", "a.__iadd__(b)"),
    ("reshape", "a.reshape((5, 4))", "a.reshape((5, 4))"), ("transpose", "a.T", "a.T"),
    ("sum", "a.sum()", "a.sum()"),
    ("softmax", "nd.softmax(a)", "F.softmax(a, -1)"), ("concat", "nd.concat(a, b, "
                                                       "dim=1)", "torch.cat([a, b], 1)"),
    ("dense layer", "nd.FullyConnected(a, b, num_hidden=4, no_bias=True)", "F.linear(a, b)"),
    ("uniform", "nd.random.uniform(shape=(4, 5))", "torch.rand((4, 5))"),
]

FORWARD = [
    ("sum", "g.sum()", "g.sum()"), ("sum of rows", "g.sum(axis=1)", "g.sum(1)"),
    ("sum of columns", "g.sum(axis=0)", "g.sum(0)"), ("max of rows", "g.max(axis=1)", "g.amax(1)"),
    ("max of columns", "g.max(axis=0)", "g.amax(0)"), ("argmax", "g.argmax(axis=1)", "g.argmax(1)"),
    ("norm", "g.norm()", "g.norm()"), ("softmax", "nd.softmax(g)", "F.softmax(g, -1)"),
    ("softmax of columns", "nd.softmax(g, axis=0)", "F.softmax(g, 0)"),
    ("log_softmax", "nd.log_softmax(g)", "F.log_softmax(g, -1)"),
    ("layer norm", "nd.LayerNorm(g, w, w)", "F.layer_norm(g, (3072,), w, w)"),
    ("gelu", "nd.LeakyReLU(g, act_type='gelu')", "F.gelu(g)"),
    ("elu", "nd.LeakyReLU(g, act_type='elu', slope=1.0)", "F.elu(g)"),
    ("prelu", "nd.LeakyReLU(g, w, act_type='prelu')", "F.prelu(g, w)"),
    ("relu", "nd.relu(g)", "torch.relu(g)"), ("sigmoid", "nd.sigmoid(g)", "torch.sigmoid(g)"),
    ("tanh", "nd.tanh(g)", "torch.tanh(g)"), ("softplus", "nd.Activation(g, act_type='softrelu')",
                                              "F.softplus(g)"),
    ("exp", "nd.exp(g)", "torch.exp(g)"), ("log1p", "nd.log1p(positive)", "torch.log1p(positive)"),
    ("sqrt", "nd.sqrt(positive)", "torch.sqrt(positive)"), ("sin", "nd.sin(g)", "torch.sin(g)"),
    ("erfinv", "nd.erfinv(small)", "torch.erfinv(small)"),
    ("gammaln", "nd.gammaln(positive)", "torch.lgamma(positive)"),
    ("power 2.5", "positive ** 2.5", "positive ** 2.5"),
    ("add", "g + h", "g + h"), ("add a row", "nd.broadcast_add(g, row)", "g + row"),
    ("add a column", "nd.broadcast_add(g, col)", "g + col"),
    ("times a number", "g * 2.5", "g * 2.5"), ("divide", "g / h", "g / h"),
    ("remainder", "nd.broadcast_mod(g, h)", "torch.remainder(g, h)"),
    ("power", "nd.broadcast_power(positive, h)", "positive ** h"),
    ("maximum", "nd.broadcast_maximum(g, h)", "torch.maximum(g, h)"),
    ("where", "nd.where(chosen, g, h)", "torch.where(chosen, g, h)"),
    ("clip", "g.clip(-1, 1)", "g.clamp(-1, 1)"), ("float16 add", "half + half", "half + half"),
    ("bfloat16 add", "brain + brain", "brain + brain"),
    ("to float16", "g.astype('float16')", "g.half()"), ("to int32", "g.astype('int32')", "g.int()"),
    ("transpose", "g.T", "g.T.contiguous()"), ("channels last", "img.transpose((0, 2, 3, "
                                               "1))", "img.permute(0, 2, 3, 1).contiguous()"),
    ("concat", "nd.concat(g, h, dim=1)", "torch.cat([g, h], 1)"),
    ("slice", "nd.slice_axis(g, axis=1, begin=5, end=3000)", "g[:, 5:3000].contiguous()"),
    ("flip", "nd.flip(g, axis=1)", "g.flip(1)"),
    ("copy", "g.copy()", "g.clone()"), ("take rows", "nd.take(g, few)", "g[few]"),
    ("one_hot", "nd.one_hot(few, 3072)", "F.one_hot(few, 3072).float()"),
    ("pick", "nd.pick(g, few)", "g.gather(1, few[:, None])"),
    ("topk 5", "nd.topk(g, k=5)", "g.topk(5)[1]"), ("sort", "nd.sort(g)", "g.sort()[0]"),
    ("argsort", "nd.argsort(g)", "g.argsort()"), ("cumsum", "nd.cumsum(g, axis=1)", "g.cumsum(1)"),
    ("max pooling", "nd.Pooling(img, kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type='max')",
     "F.max_pool2d(img, 3, 2, 1)"), ("mean pooling", "nd.Pooling(img, kernel=(2, 2), stride=(2, "
                                     "2), pool_type='avg')", "F.avg_pool2d(img, 2, 2)"),
    ("batch norm", "nd.BatchNorm(img, c, c, c, one, fix_gamma=False)",
     "F.batch_norm(img, c, one, c, c)"), ("group norm", "nd.GroupNorm(img, c, c, num_groups=8)",
                                          "F.group_norm(img, 8, c, c)"),
    ("instance norm", "nd.InstanceNorm(img, c, c)", "F.instance_norm(img, weight=c, bias=c)"),
    ("response norm", "nd.LRN(img, nsize=5)", "F.local_response_norm(img, 5)"),
    ("batch_dot", "nd.batch_dot(q, k, transpose_b=True)", "torch.bmm(q, k.transpose(1, 2))"),
    ("dot", "nd.dot(g, h, transpose_b=True)", "g @ h.T"),
    ("uniform", "nd.random.uniform(shape=g.shape)", "torch.rand(g.shape)"),
    ("normal", "nd.random.normal(shape=g.shape)", "torch.randn(g.shape)"),
    ("randint", "nd.random.randint(0, 100, shape=g.shape)",
     "torch.randint(0, 100, g.shape, dtype=torch.int32)"),
    ("exponential", "nd.random.exponential(shape=g.shape)", "torch.empty(g.shape).exponential_()"),
    ("gamma", "nd.random.gamma(2.0, 1.0, shape=g.shape)",
     "torch._standard_gamma(torch.full(g.shape, 2.0))"),
    ("poisson", "nd.random.poisson(4.0, shape=g.shape)", "torch.poisson(torch.full(g.shape, 4.0))"),
]

_BOTH = {"sum of rows", "max of rows", "softmax", "log_softmax", "layer norm", "gelu", "elu",
         "prelu", "relu", "sigmoid", "tanh", "softplus", "exp", "sqrt", "power 2.5", "add a row",
         "divide", "maximum", "where", "clip",
         "transpose", "concat", "slice", "take rows", "cumsum", "sort", "max pooling",
         "mean pooling", "group norm", "instance norm", "response norm", "batch_dot"}
GRADIENT = [case for case in FORWARD if case[0] in _BOTH] + [
    ("multiply", "g * h", "g * h"), ("mean", "g.mean()", "g.mean()"),
    ("dropout", "nd.Dropout(g, p=0.3)", "F.dropout(g, 0.3, True)"),
    ("batch norm", "nd.BatchNorm(img, c, c, mean, one, fix_gamma=False)",
     "F.batch_norm(img, mean, one, c, c, True)"),
    ("softmax and cross entropy", "nd.SoftmaxOutput(g, few)",
     "F.cross_entropy(g, few, reduction='none')"), ("dense layer", "nd.FullyConnected(g, dense, "
                                                    "num_hidden=768, no_bias=True)",
                                                    "F.linear(g, dense)"),
    ("convolution 3x3", "nd.Convolution(img, k3, num_filter=64, kernel=(3, 3), pad=(1, 1), no_bias=True)", "F.conv2d(img, k3, padding=1)"),
    ("depthwise 3x3", "nd.Convolution(img, k3d, num_filter=64, num_group=64, kernel=(3, 3), "
     "pad=(1, 1), no_bias=True)", "F.conv2d(img, k3d, padding=1, groups=64)"),
    ("tile", "nd.tile(g, (2, 1))", "g.repeat((2, 1))"),
    ("CTC", "nd.CTCLoss(sounds, labels)", "F.ctc_loss(F.log_softmax(sounds, -1), labels.long(), "
     "torch.full((16,), 50), torch.full((16,), 10), reduction='none')"),
]

VISION = [
    (f"nms of {n}", f"nd.contrib.box_nms(found{n}, overlap_thresh=0.5, coord_start=2, score_index=1)",
     f"tv.nms(found{n}[:, 2:], found{n}[:, 1], 0.5)") for n in (100, 2000)
] + [
    ("box_iou", "nd.contrib.box_iou(boxes, anchors)", "tv.box_iou(boxes, anchors)"),
    ("ROIAlign of 8", "nd.contrib.ROIAlign(img, rois8, pooled_size=(7, 7), spatial_scale=0.25, sample_ratio=2)",
     "tv.roi_align(img, rois8, (7, 7), 0.25, 2)"),
    ("ROIAlign of 256", "nd.contrib.ROIAlign(img, rois256, pooled_size=(7, 7), spatial_scale=0.25, sample_ratio=2)",
     "tv.roi_align(img, rois256, (7, 7), 0.25, 2)"),
    ("ROIPooling of 256", "nd.ROIPooling(img, rois256, pooled_size=(7, 7), spatial_scale=0.25)",
     "tv.roi_pool(img, rois256, (7, 7), 0.25)"),
    ("PSROIPooling of 256", "nd.contrib.PSROIPooling(img98, rois256, spatial_scale=0.25, output_dim=2, pooled_size=7)",
     "tv.ps_roi_pool(img98, rois256, (7, 7), 0.25)"),
    ("deformable 3x3", "nd.contrib.DeformableConvolution(img, places, k3, kernel=(3, 3), pad=(1, 1), num_filter=64, no_bias=True)",
     "tv.deform_conv2d(img, places, k3, padding=1)"),
    ("modulated deformable 3x3", "nd.contrib.ModulatedDeformableConvolution(img, places, weights, k3, kernel=(3, 3), pad=(1, 1), "
     "num_filter=64, no_bias=True)", "tv.deform_conv2d(img, places, k3, padding=1, mask=weights)"),
    ("BilinearResize2D", "nd.contrib.BilinearResize2D(img, height=112, width=112)",
     "F.interpolate(img, (112, 112), mode='bilinear', align_corners=True)"),
    ("UpSampling", "nd.UpSampling(img, scale=2, sample_type='nearest')", "F.interpolate(img, scale_factor=2)"),
    ("BilinearSampler", "nd.BilinearSampler(img, grid)",
     "F.grid_sample(img, grid.permute(0, 2, 3, 1), align_corners=True)"),
    ("image resize", "nd.image.resize(photo, (224, 224))",
     "TF.resize(photo.permute(2, 0, 1), [224, 224], antialias=False)"),
    ("image to_tensor", "nd.image.to_tensor(photo)",
     "photo.permute(2, 0, 1).contiguous().float().div(255)"),
    ("image normalize", "nd.image.normalize(tensor, mean=(0.4, 0.5, 0.6), std=(0.2, 0.2, 0.3))",
     "TF.normalize(tensor, (0.4, 0.5, 0.6), (0.2, 0.2, 0.3))"),
]
VISION_GRADIENT = [case for case in VISION if not case[0].startswith(("nms", "box", "image"))]

# One matrix of 4 x 4, 256 of 16 x 16, one of 512 x 512: s is positive definite, a is not, l is a
# lower triangle.
LINALG = [(f"{name} {size}",) + tuple(text.replace("#", n) for text in texts) for name, *texts in [
    ("potrf", "nd.linalg.potrf(s#)", "torch.linalg.cholesky(s#)", "linalg.cholesky(s#, lower=True)"),
    ("inverse", "nd.linalg.inverse(a#)", "torch.linalg.inv(a#)", "linalg.inv(a#)"),
    ("det", "nd.linalg.det(a#)", "torch.linalg.det(a#)", "linalg.det(a#)"),
    ("slogdet", "nd.linalg.slogdet(a#)[1]", "torch.linalg.slogdet(a#)[1]", "np.linalg.slogdet(a#)[1]"),
    ("syevd", "nd.linalg.syevd(s#)[1]", "torch.linalg.eigh(s#)[0]", "linalg.eigh(s#)[0]"),
    ("gelqf", "nd.linalg.gelqf(a#)[0]", "torch.linalg.qr(a#.mT)[0]", "linalg.qr(a#.mT, mode='economic')[0]"),
    ("trsm", "nd.linalg.trsm(l#, a#)", "torch.linalg.solve_triangular(l#, a#, upper=False)",
     "linalg.solve_triangular(l#, a#, lower=True)"),
    ("gemm2", "nd.linalg.gemm2(a#, s#)", "a# @ s#", "a# @ s#"),
] for n, size in (("4", "4x4"), ("16", "256 of 16x16"), ("512", "512x512"))]
