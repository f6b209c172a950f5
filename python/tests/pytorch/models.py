"""Models of the tests: families that people train, at small widths."""

import torch
import torch.nn.functional as F
from torch import nn


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.deep, self.out = nn.Conv2d(8, 8, 3, groups=8, stride=2), nn.Linear(8, 4)
        self.bn.running_mean.normal_()
        self.bn.running_var.uniform_(0.5, 2)

    def forward(self, x):
        y = F.max_pool2d(F.silu(self.bn(self.conv(x))), 2)
        return self.out(F.relu(self.deep(y)).mean((2, 3)))


class Attention(nn.Module):
    def __init__(self, d, heads, causal=False):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.proj(a.transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    """GPT-2's: attention with a causal mask, and an MLP."""

    def __init__(self, d=32, heads=4, causal=True):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attention = Attention(d, heads, causal)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        x = x + self.attention(self.n1(x))
        return x + self.down(F.gelu(self.up(self.n2(x)), approximate="tanh"))


class UNetBlock(nn.Module):
    def __init__(self, c=16):
        super().__init__()
        self.n, self.c1 = nn.GroupNorm(4, c), nn.Conv2d(c, c, 3, padding=1)
        self.down, self.up = nn.Conv2d(c, c, 3, stride=2, padding=1), nn.Conv2d(2 * c, c, 1)
        self.emb = nn.Linear(8, c)

    def forward(self, x, e):
        h = self.c1(F.silu(self.n(x))) + self.emb(F.silu(e))[:, :, None, None]
        y = F.interpolate(self.down(h), scale_factor=2.0)
        return self.up(torch.cat([y, x], 1))


class Bert(nn.Module):
    """Embeddings of tokens and places, a layer with its norms behind, a head over the vocabulary."""

    def __init__(self, d=32, vocabulary=50, heads=4, places=20):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, d, padding_idx=3), nn.Embedding(places, d)
        self.attention, self.n1, self.n2 = Attention(d, heads), nn.LayerNorm(d), nn.LayerNorm(d)
        self.up, self.down, self.head = nn.Linear(d, 2 * d), nn.Linear(2 * d, d), nn.Linear(d, vocabulary)

    def forward(self, ids):
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.tokens(ids) + self.places(places)
        x = self.n1(x + self.attention(x))
        return self.head(self.n2(x + self.down(F.gelu(self.up(x)))))


class Llama(nn.Module):
    """Grouped queries, rotated places, RMS norms and a gated MLP."""

    def __init__(self, d=32, heads=4, groups=2):
        super().__init__()
        self.heads, self.groups = heads, groups
        self.n1, self.n2 = nn.RMSNorm(d), nn.RMSNorm(d)
        self.q, self.o = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)
        self.k, self.v = (nn.Linear(d, d * groups // heads, bias=False) for _ in range(2))
        self.gate, self.up = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, 3 * d, bias=False)
        self.down = nn.Linear(3 * d, d, bias=False)

    @staticmethod
    def rotate(x):
        t, d = x.shape[2], x.shape[3]
        places = torch.arange(t, device=x.device).float()
        angles = torch.outer(places, 1e4 ** (-torch.arange(0, d, 2, device=x.device).float() / d))
        angles = torch.cat([angles, angles], -1)
        left, right = x.chunk(2, -1)
        turned = torch.cat([-right, left], -1)
        return x * angles.cos().to(x.dtype) + turned * angles.sin().to(x.dtype)

    def forward(self, x):
        b, t, d = x.shape
        y = self.n1(x)
        q = self.q(y).view(b, t, self.heads, -1).transpose(1, 2)
        k, v = (f(y).view(b, t, self.groups, -1).transpose(1, 2) for f in (self.k, self.v))
        a = F.scaled_dot_product_attention(
            self.rotate(q), self.rotate(k), v, is_causal=True, enable_gqa=True
        )
        x = x + self.o(a.transpose(1, 2).reshape(b, t, d))
        y = self.n2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def _resnet18():
    import torchvision

    return torchvision.models.resnet18(num_classes=10)


def _mobilenet():
    import torchvision

    # Dropout draws other numbers than eager does.
    return torchvision.models.mobilenet_v3_small(num_classes=10, dropout=0.0)


def _vit():
    import torchvision

    return torchvision.models.VisionTransformer(32, 8, 2, 4, 32, 64, num_classes=10)


# name: (constructor, the arguments of a batch of n)
BLOCKS = {
    "convnet": (ConvNet, lambda n: (torch.randn(n, 3, 12, 12),)),
    "block": (Block, lambda n: (torch.randn(n, 7, 32),)),
    "unet": (UNetBlock, lambda n: (torch.randn(n, 16, 8, 8), torch.randn(n, 8))),
    "bert": (Bert, lambda n: (torch.randint(0, 50, (n, 9)),)),
    "llama": (Llama, lambda n: (torch.randn(n, 7, 32),)),
}
NETWORKS = {
    "resnet18": (_resnet18, lambda n: (torch.randn(n, 3, 32, 32),)),
    "mobilenet_v3": (_mobilenet, lambda n: (torch.randn(n, 3, 32, 32),)),
    "vit": (_vit, lambda n: (torch.randn(n, 3, 32, 32),)),
}
