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
            if let start = box.baseAddress { name.withUTF8Buffer { copy.write($0, at: start - base) } }
        }
        return copy
    }

    /// Copies a file, and replaces the bytes at a place within it by as many others.
    ///
    /// - Throws: `outOfMemory`.
    static func replacing(
        _ place: UnsafeRawBufferPointer,
        of file: UnsafeRawBufferPointer,
        by bytes: [UInt8]
    ) throws(EideticError) -> FileCopy {
        let copy = try FileCopy(of: file)
        if let base = file.baseAddress, let start = place.baseAddress {
            bytes.withUnsafeBufferPointer { copy.write($0, at: start - base) }
        }
        return copy
    }

    private init(of file: UnsafeRawBufferPointer) throws(EideticError) {
        buffer = try ScratchBuffer(byteCount: file.count)
        buffer.bytes.copyMemory(from: file)
    }

    /// The bytes, valid as long as the copy exists.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(buffer.bytes) }

    private func write(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int) {
        UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[offset..<offset + bytes.count])
            .copyMemory(from: UnsafeRawBufferPointer(bytes))
    }
}
#endif
