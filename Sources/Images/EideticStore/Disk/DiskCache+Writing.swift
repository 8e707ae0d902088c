public import EideticCore
public import FoundationEssentials

extension DiskCache {
    /// Stores bytes for a key, and replaces an existing entry.
    ///
    /// After it returns, every read finds these bytes or a newer entry, in this process and in others. After it throws,
    /// the previous entry is unchanged. Awaiting each write provides sufficient back-pressure.
    ///
    /// - Parameters:
    ///   - bytes: The bytes; may be empty.
    ///   - key: A key of 1 to 65,536 bytes of UTF-8.
    ///   - metadata: The metadata to store with the bytes.
    /// - Throws: `invalidArgument` for an empty or too long key, `limitExceeded` for an entry larger than half of the
    ///   size limit or than 4 GiB, `diskFull`, `permissionDenied`, `fileFailure`, or `cancelled` if the task is
    ///   cancelled before the write starts or the background time has expired.
    nonisolated(nonsending) public func insert(
        _ bytes: some ContiguousBytes,
        for key: String,
        metadata: Metadata = Metadata()
    ) async throws(EideticError) {
        try await insert(bytes.array, for: key, metadata: metadata, within: try work.begin())
    }

    /// Stores bytes for a key as a part of work that was announced, and ends that.
    ///
    /// `checksum` is that of the bytes, if it is known.
    nonisolated(nonsending) package func insert(
        _ bytes: [UInt8],
        checksum: UInt64? = nil,
        for key: String,
        metadata: Metadata,
        within work: BackgroundWork
    ) async throws(EideticError) {
        try await self.work.perform(within: work) { () throws(EideticError) in
            try self.writer.store(bytes, checksum: checksum, for: key, metadata: metadata)
        }
    }

    /// Replaces the metadata of an entry without touching its bytes, for example after a 304 response.
    ///
    /// A new footer is written after the old one. After a kill at any instant, the entry has its old or its new
    /// metadata.
    ///
    /// - Parameters:
    ///   - entry: An entry that was read; it is changed only if it is still the stored one.
    ///   - metadata: The new metadata; a storage time of zero stands for the current time.
    /// - Returns: `true` if the metadata were replaced; `false` if the entry was removed or replaced since it was read.
    /// - Throws: The errors of ``insert(_:for:metadata:)``.
    /// - Complexity: O(*n*) in the size of the metadata; once in about a hundred replacements also in that of the
    ///   bytes.
    @discardableResult
    nonisolated(nonsending) package func replaceMetadata(
        of entry: Entry,
        with metadata: Metadata
    ) async throws(EideticError) -> Bool {
        try await work.perform { () throws(EideticError) in
            try self.writer.replaceMetadata(of: entry, with: metadata)
        }
    }
}

extension ContiguousBytes {
    /// The bytes in an array; without a copy if they are one.
    package var array: [UInt8] { self as? [UInt8] ?? withUnsafeBytes { Array($0) } }
}
