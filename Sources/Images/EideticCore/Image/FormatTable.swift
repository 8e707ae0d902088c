/// The names of all formats: those of this package, then those of users.
enum FormatTable {
    /// The names of one format.
    struct Entry: Sendable {
        let name: String
        let mimeType: String
        let fileExtension: String
    }

    static let standard = [
        Entry(name: "jpeg", mimeType: "image/jpeg", fileExtension: "jpg"),
        Entry("png"), Entry("gif"), Entry("webp"), Entry("tiff"), Entry("heic"), Entry("avif"), Entry("bmp"),
        Entry(name: "ico", mimeType: "image/x-icon", fileExtension: "ico"),
        Entry(name: "svg", mimeType: "image/svg+xml", fileExtension: "svg"),
        Entry(name: "jpegxl", mimeType: "image/jxl", fileExtension: "jxl"),
    ]

    private static let own = Guarded<[Entry]>([])

    static func entry(at index: UInt8) -> Entry {
        let index = Int(index)
        return index < standard.count ? standard[index] : own.withLock { $0[index - standard.count] }
    }

    /// Returns the index of the format with a name; `nil` if there is none.
    static func index(named name: String) -> UInt8? {
        if let index = standard.firstIndex(where: { $0.name == name }) { return UInt8(index) }
        let index = own.withLock { own in own.firstIndex { $0.name == name } }
        return index.map { UInt8(standard.count + $0) }
    }

    /// Returns the index of a user's format, which is added unless one of its name exists.
    static func index(ofOwn entry: Entry) -> UInt8 {
        precondition(!standard.contains { $0.name == entry.name }, "\(entry.name) is a format of Eidetic itself")
        return own.withLock { own in
            let known = own.firstIndex { $0.name == entry.name }
            if known == nil { own.append(entry) }
            precondition(own.count <= 200, "there are more than 200 formats")
            return UInt8(standard.count + (known ?? own.count - 1))
        }
    }
}

extension FormatTable.Entry {
    /// Creates the entry of a format with one name for everything.
    fileprivate init(_ name: String) { self.init(name: name, mimeType: "image/\(name)", fileExtension: name) }
}
