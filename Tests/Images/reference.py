"""The expected pixels of an image file: 8-bit sRGB, upright, transparent parts on black, by Pillow and its LittleCMS."""

import io
import warnings

import numpy as np
from PIL import Image, ImageCms, ImageOps

SRGB = ImageCms.createProfile("sRGB")
CHANNELS = {"RGB ": "RGB", "GRAY": "L", "CMYK": "CMYK", "Lab ": "LAB"}


def on_black(image):
    """RGB of an image whose transparent parts show black behind them."""
    image = image.convert("RGBA")
    return Image.composite(image.convert("RGB"), Image.new("RGB", image.size), image.getchannel("A"))


def to_srgb(image, profile):
    """Colours by the embedded profile, where it is one and fits the image's channels; alpha is kept."""
    alpha = image.getchannel("A") if image.mode in ("RGBA", "LA") else None
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
    except OSError:
        return image
    mode = CHANNELS.get(source.profile.xcolor_space)
    plain = image.convert({"RGBA": "RGB", "LA": "L"}.get(image.mode, image.mode))
    if mode is None or mode != plain.mode:
        return image
    result = ImageCms.profileToProfile(plain, source, SRGB, renderingIntent=0, outputMode="RGB")
    if alpha is not None:
        result.putalpha(alpha)
    return result


def to_eight_bits(image):
    """Grey of 16 bits as 8; Pillow would clip it. A palette's transparency becomes alpha."""
    if image.mode.startswith("I"):
        return Image.fromarray((np.asarray(image).astype(np.int64) >> 8).clip(0, 255).astype(np.uint8))
    if image.mode in ("P", "PA", "1") or "transparency" in image.info:
        return image.convert("RGBA" if "transparency" in image.info or image.mode == "PA" else "RGB")
    return image


def pillow(path):
    """height x width x 3 bytes. Raises what Pillow raises for a file that it cannot read whole."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Image.open(path) as image:
            image.load()
            upright = ImageOps.exif_transpose(image)
            profile = image.info.get("icc_profile")
            upright = to_eight_bits(upright)
            if upright.mode == "LAB" and not profile:
                lab = ImageCms.createProfile("LAB")
                upright = ImageCms.profileToProfile(upright, lab, SRGB, renderingIntent=0, outputMode="RGB")
            elif profile:
                upright = to_srgb(upright, profile)
            return np.asarray(on_black(upright))
