import EideticCore
import Glibc

extension Ledger {
    /// The outcome of a replacement of metadata.
    enum MetadataReplacement { case done, entryChanged, fileFull }

    /// The largest size of superseded footers in a file, in bytes.
    private static let maximumSupersededSize = 1 << 14

    /// An entry's file, opened to append a footer.
    private struct OpenEntryFile {
        let file: OpenFile
        let size: Int
    }

    /// Appends a footer with new metadata to the entry's file.
    func replaceMetadata(
        of entry: DiskCache.Entry,
        with metadata: DiskCache.Metadata,
        isDurable: Bool
    ) throws(SystemError) -> MetadataReplacement {
        let key = CacheKey(entry.key)
        guard let file = try openEntryFile(at: layout.path(of: key)) else { return .entryChanged }
        let status = try files.status(of: file.descriptor)
        guard status.kind == .regular,
            case .success(let old) = try reader.footer(of: file.descriptor, size: status.size),
            old.key.utf8.elementsEqual(entry.key.utf8), old.metadata == entry.metadata
        else { return .entryChanged }
        let supersededSize = status.size - old.bodySize
        guard supersededSize < Self.maximumSupersededSize else { return .fileFull }
        let footer = EntryFile.Footer(
            key: old.key,
            metadata: metadata,
            bodySize: old.bodySize,
            bodyChecksum: old.bodyChecksum
        )
        let bytes = footer.encoded(supersededSize: supersededSize)
        guard status.size + bytes.count <= EntryFile.sizeLimit else { return .fileFull }
        var new = limits.indexEntry(for: key, fileSize: status.size + bytes.count, metadata: metadata)
        // The bytes are unchanged, so their access count stays.
        if let known = index.entry(for: key) { new.accessCount = known.accessCount }
        let target = OpenEntryFile(file: file, size: status.size)
        return try append(bytes, to: target, entry: new, isDurable: isDurable) ? .done : .entryChanged
    }

    private func openEntryFile(at path: String) throws(SystemError) -> OpenFile? {
        do throws(SystemError) {
            return OpenFile(try files.open(path, flags: O_RDWR | O_NOFOLLOW | O_NONBLOCK))
        } catch {
            guard EntryReader.absenceErrors.contains(error.errorNumber) else { throw error }
            return nil
        }
    }

    /// Appends a footer to an entry's file; returns `false` if making room for it evicted the entry itself.
    private func append(
        _ footer: [UInt8],
        to target: OpenEntryFile,
        entry: IndexEntry,
        isDurable: Bool
    ) throws(SystemError) -> Bool {
        let growth = index.allocatedSize(forFileSize: Int(entry.size)) - index.allocatedSize(forFileSize: target.size)
        let writer = try claimWriter(allocating: growth)
        guard try files.status(of: target.file.descriptor).linkCount > 0 else { return false }
        let old = index.entry(for: entry.key)
        try append([LedgerRecord(.put, writer: writer, entry: entry)])
        do throws(SystemError) {
            try files.write(footer, to: target.file.descriptor, at: target.size)
            if isDurable { try files.synchronizeData(target.file.descriptor) }
        } catch {
            // If the truncation fails too, the next reader finds the previous footer.
            try? files.truncate(target.file.descriptor, to: target.size)
            if let old { appendOrRewrite([LedgerRecord(.put, entry: old)]) } else { needsRewrite = true }
            throw error
        }
        index.put(entry)
        return true
    }
}
