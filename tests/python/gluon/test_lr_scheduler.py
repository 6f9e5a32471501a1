"""Learning-rate schedules against closed formulas."""
import math

import pytest

from mxnet import lr_scheduler


def rates(schedule, updates):
    return [schedule(n) for n in updates]


def test_factor():
    schedule = lr_scheduler.FactorScheduler(step=3, factor=0.5, stop_factor_lr=0.02, base_lr=0.1)
    assert rates(schedule, range(14)) == pytest.approx([0.1] * 4 + [0.05] * 3 + [0.025] * 3 + [0.02] * 4)
    schedule = lr_scheduler.FactorScheduler(step=3, factor=0.5, base_lr=0.1)
    assert schedule(100) == pytest.approx(0.1 * 0.5 ** 33, rel=1e-3) or schedule(100) == 1e-8


def test_multi_factor():
    schedule = lr_scheduler.MultiFactorScheduler(step=[2, 5, 6], factor=0.1, base_lr=1.0)
    assert rates(schedule, range(9)) == pytest.approx([1, 1, 1, .1, .1, .1, .01, .001, .001])
    assert lr_scheduler.MultiFactorScheduler(step=[2, 5, 6], factor=0.1, base_lr=1.0)(100) == pytest.approx(1e-3)


@pytest.mark.parametrize('pwr', [1, 2, 0.5])
@pytest.mark.parametrize('final', [0, 0.02])
def test_poly(pwr, final):
    schedule = lr_scheduler.PolyScheduler(max_update=10, base_lr=0.3, pwr=pwr, final_lr=final)
    expected = [final + (0.3 - final) * (1 - min(n, 10) / 10) ** pwr for n in range(15)]
    assert rates(schedule, range(15)) == pytest.approx(expected)


@pytest.mark.parametrize('final', [0, 0.02])
def test_cosine(final):
    schedule = lr_scheduler.CosineScheduler(max_update=10, base_lr=0.3, final_lr=final)
    expected = [final + (0.3 - final) * (1 + math.cos(math.pi * min(n, 10) / 10)) / 2 for n in range(15)]
    assert rates(schedule, range(15)) == pytest.approx(expected)


def test_warmup_comes_before_the_schedule():
    schedule = lr_scheduler.CosineScheduler(max_update=14, base_lr=0.5, warmup_steps=4, warmup_begin_lr=0.1)
    assert rates(schedule, range(5)) == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])
    assert schedule(9) == pytest.approx(0.25) and schedule(14) == pytest.approx(0)
    schedule = lr_scheduler.FactorScheduler(step=100, base_lr=0.5, warmup_steps=3, warmup_begin_lr=0.2, warmup_mode='constant')
    assert rates(schedule, range(5)) == pytest.approx([0.2, 0.2, 0.2, 0.5, 0.5])
    # no division by nothing when the warm-up is all there is
    assert lr_scheduler.PolyScheduler(max_update=5, base_lr=0.5, final_lr=0.1, warmup_steps=5)(5) == pytest.approx(0.1)


def test_changes_are_logged(caplog):
    with caplog.at_level("INFO"):
        for schedule in (lr_scheduler.FactorScheduler(step=3, factor=0.5, stop_factor_lr=0.4,
                                                      base_lr=1.0),
                         lr_scheduler.MultiFactorScheduler(step=[2, 5], factor=0.1, base_lr=1.0),
                         lr_scheduler.FactorScheduler(step=15, factor=1, base_lr=1.0)):
            for update in (1, 3, 4, 6, 7, 10, 20):
                schedule(update)
    messages = [r.getMessage() for r in caplog.records if "will not change" not in r.getMessage()]
    assert messages == [f"Update[{at}]: Change learning rate to {rate}" for at, rate in
                        ((4, "5.00000e-01"), (3, "1.00000e-01"), (6, "1.00000e-02"), (20, "1.00000e+00"))]


def test_base_rate_can_be_set_in_between():
    schedule = lr_scheduler.FactorScheduler(step=2, factor=0.5, base_lr=1.0)
    assert schedule(3) == 0.5
    schedule.base_lr = 8.0
    assert schedule(4) == 8.0 and schedule(5) == 4.0


@pytest.mark.parametrize('make', [
    lambda s: s.FactorScheduler(step=0), lambda s: s.FactorScheduler(step=1, factor=1.1),
    lambda s: s.MultiFactorScheduler(step=[3, 3]), lambda s: s.MultiFactorScheduler(step=[0, 3]),
    lambda s: s.MultiFactorScheduler(step=[1], factor=2), lambda s: s.PolyScheduler(max_update=0),
    lambda s: s.CosineScheduler(max_update=0), lambda s: s.LRScheduler(base_lr=0.1, warmup_begin_lr=0.2),
    lambda s: s.LRScheduler(warmup_steps=-1), lambda s: s.LRScheduler(warmup_mode='cubic')])
def test_wrong_parameters(make):
    with pytest.raises(ValueError, match=r'^\[\w+Scheduler\]'):
        make(lr_scheduler)
