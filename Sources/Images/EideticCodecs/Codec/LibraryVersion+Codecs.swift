#if AVIF
import CAVIF
#endif
import CDeflate
import CGIF
#if HEIF
import CHEIF
#endif
import CJPEG
#if JPEGXL
import CJXL
#endif
import CLCMS
import CPNG
#if SVG
import CSVG
#endif
import CTIFF
import CWebP
package import EideticCore

extension LibraryVersion {
    package static var codecs: [LibraryVersion] {
        [
            LibraryVersion("libjpeg-turbo", number: Int(eidetic_jpeg_version()), base: 1_000),
            LibraryVersion("libpng", version: String(cString: eidetic_png_version())),
            LibraryVersion("libdeflate", version: LIBDEFLATE_VERSION_STRING),
            LibraryVersion("libwebp", number: Int(WebPGetDecoderVersion()), base: 256),
            LibraryVersion("giflib", version: "\(GIFLIB_MAJOR).\(GIFLIB_MINOR).\(GIFLIB_RELEASE)"),
            LibraryVersion("libtiff", version: tiff),
            LibraryVersion("Little CMS", number: Int(cmsGetEncodedCMMversion()) / 10, base: 100, parts: 2),
        ]
    }

    /// The libraries that are loaded when an image first needs them.
    package static var optionalCodecs: [LibraryVersion] {
        var libraries: [LibraryVersion] = []
        #if AVIF
        libraries.append(LibraryVersion("libavif", version: eidetic_avif_version().map { String(cString: $0) }))
        #endif
        #if HEIF
        libraries.append(LibraryVersion("libheif", version: eidetic_heif_version().map { String(cString: $0) }))
        #endif
        #if JPEGXL
        libraries.append(LibraryVersion("libjxl", number: Int(eidetic_jxl_version()), base: 1_000))
        #endif
        #if SVG
        libraries.append(LibraryVersion("librsvg", number: Int(eidetic_svg_version()), base: 1_000))
        #endif
        return libraries
    }

    /// The last word of the first line, which is followed by a notice of copyright.
    private static var tiff: String? {
        let notice = String(cString: eidetic_tiff_version())
        return notice.split(separator: "\n").first?.split(separator: " ").last.map(String.init)
    }
}
