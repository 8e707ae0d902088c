#if AVIF
import EideticCore

/// The tracks of an AVIF sequence that libavif must not see.
///
/// libavif refuses files with tracks without a size, such as sound, and takes any auxiliary track for alpha, such as
/// depth.
///
/// - SeeAlso: ISO/IEC 14496-12, 8.4.3 (`hdlr`); ISO/IEC 23008-12, 7.5.3 (`auxi`).
enum AVIFTracks {
    /// Returns a copy of the file in which these tracks are free space; `nil` if it has none.
    static func withoutForeignTracks(_ bytes: UnsafeRawBufferPointer) throws(EideticError) -> FileCopy? {
        try FileCopy.hiding(foreignTrackNames(in: bytes), of: bytes, as: "free")
    }

    /// Returns `true` if the file has tracks that are neither images nor alpha; otherwise, `false`.
    static func hasForeignTracks(_ bytes: UnsafeRawBufferPointer) -> Bool { !foreignTrackNames(in: bytes).isEmpty }

    private static func foreignTrackNames(in bytes: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer] {
        var names: [UnsafeRawBufferPointer] = []
        for movie in bytes.boxes(named: "moov") {
            movie.forEachBox { name, content in
                if name.contains("trak"), isForeign(content) { names.append(name) }
                return true
            }
        }
        return names
    }

    private static func isForeign(_ track: UnsafeRawBufferPointer) -> Bool {
        guard let handler = track.box("mdia", "hdlr")?.slice(at: 8, count: 4) else { return false }
        guard handler.contains("pict") || handler.contains("auxv") || handler.contains("vide") else { return true }
        guard track.box("tref", "auxl") != nil, let type = auxiliaryType(of: track) else { return false }
        return !HEIFItems.isAlpha(type)
    }

    /// Returns the content of the first sample description's `auxi` box.
    private static func auxiliaryType(of track: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard let table = track.box("mdia", "minf", "stbl", "stsd"),
            let entry = table.slice(at: 8, count: table.count - 8)?.box("av01")
        else { return nil }
        return entry.slice(at: visualEntryLength, count: entry.count - visualEntryLength)?.box("auxi")
    }

    /// The length of the fields of a sample description before its boxes.
    private static let visualEntryLength = 78
}
#endif
