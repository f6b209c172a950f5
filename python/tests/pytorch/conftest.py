import pytest

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def fresh():
    """Neither graphs nor counters of another test."""
    import tracea.torch

    torch.manual_seed(0)
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    tracea.torch.reset()
    yield
    torch._dynamo.reset()
