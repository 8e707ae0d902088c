import EideticCore

extension FileSystem {
    /// Reads `count` bytes from an offset, or fewer at the end of the file.
    func bytes(
        of file: borrowing FileDescriptor,
        count: Int,
        from offset: Int = 0
    ) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(SystemError) {
                while filled < count {
                    let remaining = UnsafeMutableRawBufferPointer(
                        rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...]
                    )
                    let read = try self.read(file, at: offset + filled, into: remaining)
                    if read == 0 { break }
                    filled += read
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Returns the names in a directory, or none if the directory does not exist.
    func existingNames(in directory: String) throws(SystemError) -> [String] {
        do throws(SystemError) {
            return try entryNames(in: directory)
        } catch {
            guard EntryReader.absenceErrors.contains(error.errorNumber) else { throw error }
            return []
        }
    }

    /// Writes all bytes of an array at an offset.
    func write(_ bytes: [UInt8], to file: borrowing FileDescriptor, at offset: Int) throws(SystemError) {
        var failure: SystemError?
        bytes.withUnsafeBytes { bytes in
            do throws(SystemError) { try write(bytes, to: file, at: offset) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}
