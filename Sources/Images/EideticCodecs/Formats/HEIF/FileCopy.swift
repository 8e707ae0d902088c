#if AVIF || HEIF
import EideticCore

/// A copy of a file for a library that must not see all of its boxes.
final class FileCopy {
    private let buffer: ScratchBuffer

    /// Bytes that take the place of as many others within a file.
    struct Edit {
        let place: UnsafeRawBufferPointer
        let bytes: [UInt8]

        init(_ place: UnsafeRawBufferPointer, bytes: [UInt8]) {
            self.place = place
            self.bytes = bytes
        }

        /// Creates other numbers for a list that has as many.
        init(_ place: UnsafeRawBufferPointer, numbers: [Int]) {
            let size = place.count / max(1, numbers.count)
            let bytes = numbers.flatMap { number in
                (0..<size).map { UInt8(truncatingIfNeeded: number >> (8 * (size - 1 - $0))) }
            }
            self.init(place, bytes: bytes)
        }

        /// Creates another name of four characters for a box, which the library does not know.
        init(_ name: UnsafeRawBufferPointer, newName: StaticString) {
            self.init(name, bytes: newName.withUTF8Buffer(Array.init))
        }
    }

    /// Copies a file with changes.
    ///
    /// - Returns: `nil` if there are no changes.
    /// - Throws: `outOfMemory`.
    static func making(_ edits: [Edit], of file: UnsafeRawBufferPointer) throws(EideticError) -> FileCopy? {
        guard !edits.isEmpty, let base = file.baseAddress else { return nil }
        let copy = try FileCopy(of: file)
        for edit in edits {
            if let start = edit.place.baseAddress {
                edit.bytes.withUnsafeBufferPointer { copy.write($0, at: start - base) }
            }
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
