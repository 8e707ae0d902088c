import EideticFetch
import EideticStore

/// The fields of an HTTP answer that are kept on disk beside its body.
///
/// - SeeAlso: RFC 9111, section 3; RFC 9110, section 13.
enum StoredFields {
    private static let names = [
        "ETag", "Last-Modified", "Cache-Control", "Expires", "Date", "Age", "Vary", "Content-Type",
    ]

    static func of(_ headers: HTTPHeaders) -> [DiskCache.Metadata.Field] {
        names.compactMap { name in headers[name].map { DiskCache.Metadata.Field(name: name, value: $0) } }
    }

    /// The fields that ask a server whether anything has changed; none where it gave nothing to compare by.
    static func conditions(_ metadata: DiskCache.Metadata) -> HTTPHeaders {
        var conditions = HTTPHeaders()
        for field in metadata.headers {
            switch field.name.lowercased() {
            case "etag": conditions["If-None-Match"] = field.value
            case "last-modified": conditions["If-Modified-Since"] = field.value
            default: break
            }
        }
        return conditions
    }

    /// Whether the server forbids to keep the body.
    static func forbidStoring(_ fields: [DiskCache.Metadata.Field]) -> Bool {
        fields.contains { field in
            field.name.lowercased() == "cache-control"
                && field.value.lowercased().split(separator: ",").contains { $0.trimmingSpaces == "no-store" }
        }
    }
}

extension Substring {
    /// The text without spaces and tabs around it.
    fileprivate var trimmingSpaces: Substring {
        var text = self
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text.drop { $0 == " " || $0 == "\t" }
    }
}
