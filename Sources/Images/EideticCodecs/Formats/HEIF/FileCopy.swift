#if AVIF || HEIF
import EideticCore

/// A copy of a file for a library that must not see all of its boxes.
final class FileCopy {
    private let buffer: ScratchBuffer

    /// Copies a file, and gives boxes another name of four characters, which the library does not know.
    ///
    /// The names of the boxes lie within the file.
    ///
    /// - Returns: `nil` if there are no boxes to hide.
    /// - Throws: `outOfMemory`.
    static func hiding(
        _ names: [UnsafeRawBufferPointer],
        of file: UnsafeRawBufferPointer,
        as name: StaticString
    ) throws(EideticError) -> FileCopy? {
        guard !names.isEmpty, let base = file.baseAddress else { return nil }
        let copy = try FileCopy(of: file)
        for box in names {
            if let start = box.baseAddress { copy.write(name, at: start - base) }
        }
        return copy
    }

    private init(of file: UnsafeRawBufferPointer) throws(EideticError) {
        buffer = try ScratchBuffer(byteCount: file.count)
        buffer.bytes.copyMemory(from: file)
    }

    /// The bytes, valid as long as the copy exists.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(buffer.bytes) }

    private func write(_ text: StaticString, at offset: Int) {
        text.withUTF8Buffer { text in
            UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[offset..<offset + text.count])
                .copyMemory(from: UnsafeRawBufferPointer(text))
        }
    }
}
#endif
