"""Writes the small image files in files/, and beside each the pixels that Pillow decodes (NAME.ppm). README.md says more."""

import pathlib
import struct
import zlib

import numpy as np
from PIL import Image
from PIL.PngImagePlugin import PngInfo

import bmp
import icc
from reference import pillow

FOLDER = pathlib.Path(__file__).parent / "files"
WIDTH, HEIGHT = 24, 16


def colors():
    """Gradients with a bright bar and a dark corner, so that no turn or mirroring leaves it as it is."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    image = np.stack([x * 255 / (WIDTH - 1), y * 255 / (HEIGHT - 1), (x + y) * 255 / (WIDTH + HEIGHT - 2)], axis=-1)
    image[3:6, 4:20] = (250, 240, 30)
    image[10:15, 2:7] = (10, 20, 60)
    return image.round().astype(np.uint8)


def alpha():
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    return ((x * 11 + y * 5) % 256).astype(np.uint8)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png16(samples, color_type):
    """A PNG of 16-bit samples (height x width x channels), which Pillow cannot write."""
    height, width = samples.shape[:2]
    rows = samples.astype(">u2").reshape(height, -1)
    data = b"".join(b"\0" + row.tobytes() for row in rows)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", width, height, 16, color_type, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b""))


def wide(samples):
    """8-bit samples as 16-bit ones whose low bytes differ from the high ones."""
    return samples.astype(np.uint16) * 257 ^ 0x005A


def files():
    """Name to bytes, or to (image, how it is saved)."""
    rgb = Image.fromarray(colors())
    gray = Image.fromarray(colors()[..., 1])
    ramp = Image.fromarray(np.tile(np.linspace(0, 255, WIDTH).round().astype(np.uint8), (HEIGHT, 1)))
    rgba = rgb.copy()
    rgba.putalpha(Image.fromarray(alpha()))
    gray_alpha = Image.merge("LA", (gray, Image.fromarray(alpha())))
    inks = Image.fromarray(np.concatenate([255 - colors(), alpha()[..., None] // 3], axis=-1), "CMYK")
    palette = rgb.quantize(16)
    transparent = palette.copy()
    transparent.info["transparency"] = bytes([0, 90] + [255] * 14)
    mirrored = rgb.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    fine = {"quality": 95, "subsampling": 0}
    yield "baseline.jpg", (rgb, fine)
    yield "subsampled.jpg", (rgb, {"quality": 90, "subsampling": 2})
    yield "progressive.jpg", (rgb, {**fine, "progressive": True})
    yield "gray.jpg", (gray, {"quality": 95})
    yield "cmyk.jpg", (inks, fine)
    yield "cmyk_icc.jpg", (inks, {**fine, "icc_profile": icc.cmyk()})
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        yield f"exif_{orientation}.jpg", (rgb, {**fine, "exif": exif.tobytes()})
    exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"
    comment = PngInfo()
    comment.add_text("Raw profile type exif", f"\nexif\n{len(exif):8}\n{exif.hex()}\n")
    yield "exif_in_text.png", (rgb, {"pnginfo": comment})
    yield "rgb.png", (rgb, {})
    yield "rgba.png", (rgba, {})
    yield "gray_alpha.png", (gray_alpha, {})
    yield "palette.png", (palette, {})
    yield "palette_alpha.png", (transparent, {})
    yield "bits.png", (gray.convert("1"), {})
    yield "rgb16.png", png16(wide(colors()), 2)
    yield "rgba16.png", png16(wide(np.asarray(rgba)), 6)
    yield "gray16.png", png16(wide(colors()[..., 1:2]), 0)
    yield "gray_alpha16.png", png16(wide(np.asarray(gray_alpha)), 4)
    yield "display_p3.png", (rgb, {"icc_profile": icc.rgb("Display P3")})
    yield "display_p3_alpha.png", (rgba, {"icc_profile": icc.rgb("Display P3")})
    yield "adobe_rgb.png", (rgb, {"icc_profile": icc.rgb("Adobe RGB")})
    yield "prophoto.png", (rgb, {"icc_profile": icc.rgb("ProPhoto")})
    yield "gray_gamma.png", (ramp, {"icc_profile": icc.gray(1.0)})
    yield "gray_gamma.jpg", (ramp, {"quality": 100, "icc_profile": icc.gray(1.8)})
    yield "display_p3.jpg", (rgb, {**fine, "icc_profile": icc.rgb("Display P3")})
    yield "lossy.webp", (rgb, {"quality": 90})
    yield "alpha.webp", (rgba, {"lossless": True})
    yield "animated.webp", (rgb, {"lossless": True, "save_all": True, "append_images": [mirrored], "duration": 100})
    yield "color.bmp", (rgb, {})
    yield "palette.bmp", (palette, {})
    yield "gray.bmp", (gray, {})
    colors16 = [tuple(color) for color in np.asarray(palette.getpalette()[:48]).reshape(16, 3).tolist()]
    yield from bmp.files(colors(), alpha(), np.asarray(palette), colors16)
    yield "color.tiff", (rgb, {})
    yield "lzw.tiff", (rgb, {"compression": "tiff_lzw"})
    yield "deflate_alpha.tiff", (rgba, {"compression": "tiff_adobe_deflate"})
    yield "cmyk.tiff", (inks, {"compression": "tiff_lzw"})
    yield "adobe_rgb.tiff", (rgb, {"compression": "tiff_lzw", "icc_profile": icc.rgb("Adobe RGB")})
    yield "gray16.tiff", (Image.fromarray(wide(colors()[..., 1])), {})
    yield "palette.gif", (palette, {})
    yield "animated.gif", (palette, {"save_all": True, "append_images": [mirrored.quantize(16)], "duration": 100})
    yield "transparent.gif", (transparent, {"transparency": 1})
    yield "color.avif", (rgb, {"quality": 90, "subsampling": "4:4:4"})
    yield "alpha.avif", (rgba, {"quality": 95, "subsampling": "4:4:4"})


def main():
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    for name, content in files():
        path = FOLDER / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            content[0].save(path, **content[1])
        pixels = pillow(path)
        header = b"P6 %d %d 255\n" % (pixels.shape[1], pixels.shape[0])
        path.with_name(f"{name}.ppm").write_bytes(header + pixels.tobytes())


if __name__ == "__main__":
    main()
