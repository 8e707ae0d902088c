#if AVIF
import EideticCore

/// The boxes of an AVIF file that libavif must not see, or not as they are.
///
/// libavif refuses files with tracks without a size, such as sound, and takes any auxiliary track for alpha, such as
/// depth. It does not know images that a gain map makes (`tmap`): their base is shown. Version 0.11 refuses tables that
/// reach to the end of the file without saying their size.
///
/// - SeeAlso: ISO/IEC 14496-12, 4.2.2 (size 0) and 8.4.3 (`hdlr`); ISO/IEC 23008-12, 7.5.3 (`auxi`).
enum AVIFForeignBoxes {
    /// Returns a copy of the file in which such tracks are free space and tables have a size, with further changes;
    /// `nil` if there is nothing to change.
    static func readableCopy(
        of bytes: UnsafeRawBufferPointer,
        isComplete: Bool,
        with furtherEdits: [FileCopy.Edit] = []
    ) throws(EideticError) -> FileCopy? {
        try FileCopy.making(edits(of: bytes, isComplete: isComplete) + furtherEdits, of: bytes)
    }

    /// Returns `true` if the library reads a copy of the file; otherwise, `false`.
    static func needsCopy(_ bytes: UnsafeRawBufferPointer) -> Bool { !edits(of: bytes, isComplete: true).isEmpty }

    private static func edits(of bytes: UnsafeRawBufferPointer, isComplete: Bool) -> [FileCopy.Edit] {
        var tracks = foreignTrackNames(in: bytes).map { FileCopy.Edit($0, newName: "free") }
        tracks += HEIFItemIndex(bytes)?.baseEdits ?? []
        // A table that has not arrived as a whole would seem to.
        guard isComplete, let size = sizeOfLastTable(in: bytes) else { return tracks }
        return tracks + [size]
    }

    private static func sizeOfLastTable(in bytes: UnsafeRawBufferPointer) -> FileCopy.Edit? {
        var edit: FileCopy.Edit?
        bytes.forEachBox { name, content in
            guard name.contains("meta") || name.contains("moov"), let base = bytes.baseAddress,
                let start = name.baseAddress, bytes.bigEndian32(at: start - base - 4) == 0,
                let size = bytes.slice(at: start - base - 4, count: 4), let length = UInt32(exactly: content.count + 8)
            else { return true }
            edit = .init(size, bytes: withUnsafeBytes(of: length.bigEndian, Array.init))
            return false
        }
        return edit
    }

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
