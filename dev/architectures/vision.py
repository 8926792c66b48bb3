"""Architectures for images: torchvision's, and networks without a package."""
import torch
import torchvision
from torch import nn
from torch.nn import functional as F

from catalog import ALL, COMPRESSED, ONNX, architecture, image



def classifier(name, size=64, routes=ALL, **options):
    def make():
        return getattr(torchvision.models, name)(weights=None, num_classes=20, **options), (image(size),)
    architecture(name, routes)(make)


classifier("resnet18", routes=COMPRESSED)
classifier("resnext50_32x4d")
classifier("mobilenet_v2")
classifier("mobilenet_v3_small", routes=COMPRESSED)
classifier("efficientnet_b0")
classifier("efficientnet_v2_s")
classifier("convnext_tiny")
classifier("regnet_y_400mf")
classifier("regnet_x_400mf")
classifier("densenet121")
classifier("shufflenet_v2_x0_5")
classifier("squeezenet1_1")
classifier("mnasnet0_5")
classifier("vgg11_bn", 32)
classifier("googlenet", init_weights=False, aux_logits=False)
classifier("inception_v3", 96, init_weights=False, aux_logits=False)
classifier("swin_t", routes=COMPRESSED)
classifier("swin_v2_t")


@architecture("vit")
def _():
    return torchvision.models.VisionTransformer(
        image_size=32, patch_size=8, num_layers=3, num_heads=4, hidden_dim=64, mlp_dim=128, num_classes=20), (image(32),)


@architecture("maxvit")
def _():
    return torchvision.models.MaxVit(
        input_size=(64, 64), stem_channels=16, partition_size=2, block_channels=[16, 32], block_layers=[1, 1], head_dim=8,
        stochastic_depth_prob=0.0, num_classes=20), (image(64),)


class Parts(nn.Module):
    """A wrapper that returns a model's outputs as a tuple of tensors."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs):
        given = self.model(*inputs)
        return tuple(given[name] for name in self.names)


def segmentation(name, **options):
    @architecture(name)
    def _():
        model = getattr(torchvision.models.segmentation, name)(
            weights=None, weights_backbone=None, num_classes=5, **options)
        return Parts(model, ("out",)), (image(64),)


segmentation("deeplabv3_mobilenet_v3_large")
segmentation("lraspp_mobilenet_v3_large")
segmentation("fcn_resnet50", aux_loss=False)


class Detector(nn.Module):
    """A detector of one image, with the named results for it."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, image):
        found = self.model([image])
        # When traced, torchvision's detectors return their losses too.
        found = found[1] if isinstance(found, tuple) else found
        return tuple(found[0][name] for name in self.names)


def detector(name, parts=("boxes", "scores", "labels"), size=96, spread=1, **options):
    """`spread` scales the scores, so that none are equal or 1."""
    @architecture(name, ONNX)
    def _():
        model = getattr(torchvision.models.detection, name)(
            weights=None, weights_backbone=None, num_classes=5, **options)
        if spread != 1:
            for parameter in model.head.classification_head.parameters():
                parameter.data *= spread
        return Detector(model, parts), (image(size)[0],)


small = dict(min_size=96, max_size=128)
detector("fasterrcnn_mobilenet_v3_large_320_fpn", **small, rpn_pre_nms_top_n_test=60, rpn_post_nms_top_n_test=20)
detector("maskrcnn_resnet50_fpn", ("boxes", "scores", "labels", "masks"), **small, rpn_pre_nms_top_n_test=60,
         rpn_post_nms_top_n_test=20, box_detections_per_img=8)
detector("keypointrcnn_resnet50_fpn", ("boxes", "scores", "labels", "keypoints"), **small, rpn_pre_nms_top_n_test=60,
         rpn_post_nms_top_n_test=20, box_detections_per_img=8, num_keypoints=3)
detector("retinanet_resnet50_fpn", **small, topk_candidates=40, score_thresh=0.0)
detector("fcos_resnet50_fpn", **small, topk_candidates=40, score_thresh=0.0)
detector("ssdlite320_mobilenet_v3_large", spread=8, topk_candidates=40, score_thresh=0.0)
detector("ssd300_vgg16", spread=0.01, topk_candidates=40, score_thresh=0.0)


class RoiFeatures(nn.Module):
    """The second stage of a detector: regions of an image's features, and non-maximum suppression."""

    def __init__(self):
        super().__init__()
        self.features = nn.Conv2d(3, 8, 3, stride=4, padding=1)
        self.scores = nn.Linear(8 * 7 * 7, 1)

    def forward(self, image, boxes):
        areas = torchvision.ops.roi_align(self.features(image), [boxes], 7, 0.25, 2, True)
        scores = self.scores(areas.flatten(1)).sigmoid()[:, 0]
        kept = torchvision.ops.nms(boxes, scores, 0.3)
        return boxes[kept], scores[kept]


@architecture("roi_align_and_suppression", ONNX)
def _():
    corners = torch.rand(20, 2) * 40
    return RoiFeatures(), (image(64), torch.cat([corners, corners + 4 + torch.rand(20, 2) * 20], 1))


class Flow(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, first, second):
        return self.model(first, second, num_flow_updates=2)[-1]


@architecture("raft_small")
def _():
    return Flow(torchvision.models.optical_flow.raft_small(weights=None)), (image(128), image(128))


def video(name, size, **options):
    @architecture(name)
    def _():
        model = getattr(torchvision.models.video, name)(weights=None, num_classes=10, **options)
        return model, (torch.randn(1, 3, 4 if name != "s3d" else 16, size, size),)


video("r3d_18", 32)
video("r2plus1d_18", 32)


@architecture("mvit")
def _():
    setting = torchvision.models.video.mvit.MSBlockConfig
    blocks = [
        setting(1, 16, 32, (3, 3, 3), (3, 3, 3), (1, 2, 2), (1, 1, 1)),
        setting(2, 32, 32, (3, 3, 3), (3, 3, 3), (1, 1, 1), (1, 2, 2))]
    return torchvision.models.video.MViT(
        spatial_size=(32, 32), temporal_size=4, block_setting=blocks, residual_pool=True, residual_with_cls_embed=False,
        rel_pos_embed=True, proj_after_attn=True, num_classes=10), (torch.randn(1, 3, 4, 32, 32),)


class UNet(nn.Module):
    """Down by pooling, up by transposed convolutions, joined at each size."""

    def __init__(self, widths=(8, 16, 32)):
        super().__init__()
        self.down = nn.ModuleList(self.pair(before, width) for before, width in zip((3, *widths), widths))
        self.up = nn.ModuleList(
            nn.ConvTranspose2d(width, before, 2, stride=2) for before, width in zip(widths, widths[1:]))
        self.joined = nn.ModuleList(self.pair(2 * width, width) for width in widths[:-1])
        self.head = nn.Conv2d(widths[0], 2, 1)

    @staticmethod
    def pair(before, after):
        return nn.Sequential(
            nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(),
            nn.Conv2d(after, after, 3, padding=1), nn.BatchNorm2d(after), nn.LeakyReLU(0.1))

    def forward(self, x):
        kept = []
        for level, block in enumerate(self.down):
            x = block(x if level == 0 else F.max_pool2d(x, 2))
            kept.append(x)
        for level in reversed(range(len(self.up))):
            x = self.joined[level](torch.cat([self.up[level](x), kept[level]], 1))
        return self.head(x)


@architecture("unet", COMPRESSED)
def _():
    return UNet(), (image(48),)


class Style(nn.Module):
    """A network of styles: reflected borders, instance normalization, resizing before convolutions."""

    def __init__(self):
        super().__init__()
        def block(before, after, size, stride=1):
            return [nn.ReflectionPad2d(size // 2), nn.Conv2d(before, after, size, stride),
                    nn.InstanceNorm2d(after, affine=True), nn.ReLU()]
        self.encoder = nn.Sequential(*block(3, 8, 9), *block(8, 16, 3, 2), *block(16, 32, 3, 2))
        self.residual = nn.ModuleList(nn.Sequential(*block(32, 32, 3), *block(32, 32, 3)[:-1]) for _ in range(2))
        self.decoder = nn.Sequential(
            nn.Upsample(scale_factor=2), *block(32, 16, 3), nn.Upsample(scale_factor=2, mode="bilinear"), *block(16, 8, 3))
        self.last = nn.Sequential(nn.ReflectionPad2d(4), nn.Conv2d(8, 3, 9))

    def forward(self, x):
        x = self.encoder(x)
        for block in self.residual:
            x = x + block(x)
        return torch.tanh(self.last(self.decoder(x))) * 127.5 + 127.5


@architecture("style", ALL)
def _():
    return Style(), (image(48),)


class SuperResolution(nn.Module):
    """Pixels out of channels, over a bicubic enlargement."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 16, 5, padding=2), nn.PReLU(16), nn.Conv2d(16, 16, 3, padding=1, groups=4), nn.Hardtanh(),
            nn.Conv2d(16, 27, 3, padding=1), nn.PixelShuffle(3))

    def forward(self, x):
        return self.body(x) + F.interpolate(x, scale_factor=3.0, mode="bicubic", align_corners=False)


@architecture("super_resolution")
def _():
    return SuperResolution(), (image(20),)


class Transformer2d(nn.Module):
    """A spatial transformer: the image is turned as a small network says."""

    def __init__(self):
        super().__init__()
        self.where = nn.Sequential(
            nn.Conv2d(3, 8, 7), nn.MaxPool2d(2, ceil_mode=True), nn.ELU(), nn.AdaptiveAvgPool2d(3), nn.Flatten(),
            nn.Linear(72, 6), nn.Tanh())
        self.what = nn.Sequential(nn.Conv2d(3, 4, 3), nn.AvgPool2d(3, 2, 1, count_include_pad=False), nn.Softplus())

    def forward(self, x):
        turned = F.affine_grid(self.where(x).view(-1, 2, 3), list(x.shape), align_corners=False)
        return self.what(F.grid_sample(x, turned, padding_mode="border", align_corners=False))


@architecture("spatial_transformer")
def _():
    return Transformer2d(), (image(32),)


class TimedBlock(nn.Module):
    """A block of a diffusion model's U-Net: a residual that a step's embedding shifts, and attention to a text."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.first = nn.Sequential(nn.GroupNorm(8, width), nn.SiLU(), nn.Conv2d(width, 2 * width, 3, padding=1))
        self.step = nn.Sequential(nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, 2 * width))
        self.second = nn.Sequential(
            nn.GroupNorm(8, 2 * width), nn.SiLU(), nn.Conv2d(2 * width, 2 * width, 3, padding=1))
        self.short = nn.Conv2d(width, 2 * width, 1)
        self.norm = nn.LayerNorm(2 * width)
        self.query, self.both = nn.Linear(2 * width, 2 * width), nn.Linear(24, 4 * width)
        self.gate, self.out = nn.Linear(2 * width, 8 * width), nn.Linear(4 * width, 2 * width)
        self.width, self.heads = width, heads

    def forward(self, x, step, text):
        half = self.width // 2
        angles = step[:, None] * torch.exp(torch.arange(half) * (-9.21 / half))
        shift = self.step(torch.cat([angles.cos(), angles.sin()], -1))
        x = self.second(self.first(x) + shift[:, :, None, None]) + self.short(x)
        count, channels, height, width = x.shape
        rows = x.flatten(2).transpose(1, 2)
        split = lambda t: t.reshape(count, -1, self.heads, channels // self.heads).transpose(1, 2)
        key, value = self.both(text).chunk(2, -1)
        seen = F.scaled_dot_product_attention(split(self.query(self.norm(rows))), split(key), split(value))
        rows = rows + seen.transpose(1, 2).reshape(count, -1, channels)
        left, right = self.gate(rows).chunk(2, -1)
        rows = rows + self.out(left * F.gelu(right))
        return rows.transpose(1, 2).reshape(count, channels, height, width)


@architecture("diffusion_block", COMPRESSED)
def _():
    return TimedBlock(), (torch.randn(2, 32, 8, 8), torch.tensor([3.0, 500.0]), torch.randn(2, 7, 24))
