import EideticCore

extension ImageHeader {
    /// Returns `true` if a HEIF file has an alpha that is not shown, of some tiles of an image or in a form that the
    /// libraries refuse; otherwise, `false`.
    ///
    /// As in browsers, an alpha of tiles counts in AVIF if each of them has one of its own.
    package func ignoresAlpha(of bytes: [UInt8]) -> Bool {
        #if AVIF || HEIF
        guard !hasAlpha, format == .avif || format == .heic else { return false }
        return bytes.withUnsafeBytes { HEIFItemIndex($0)?.hasAlpha == true }
        #else
        return false
        #endif
    }
}
