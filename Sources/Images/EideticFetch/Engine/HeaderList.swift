import EideticHTTP

import CCurl

/// Header fields as a linked list of libcurl.
final class HeaderList {
    let fields: HTTPHeaders
    let pointer: UnsafeMutablePointer<curl_slist>?

    /// Creates a list.
    ///
    /// - Parameters:
    ///   - headers: The fields.
    ///   - removedNames: The names of fields that libcurl must not send by itself.
    init(_ headers: HTTPHeaders, removing removedNames: [String] = []) {
        fields = headers
        var pointer: UnsafeMutablePointer<curl_slist>?
        for field in headers.fields {
            // "Name:" would remove a field; "Name;" sends one with an empty value.
            let value = field.value.trimmingOptionalWhitespace
            let line = value.isEmpty ? "\(field.name);" : "\(field.name): \(value)"
            let bytes = line.fieldBytes.map(CChar.init(bitPattern:)) + [0]
            pointer = curl_slist_append(pointer, bytes) ?? pointer
        }
        for name in removedNames { pointer = curl_slist_append(pointer, "\(name):") ?? pointer }
        self.pointer = pointer
    }

    deinit { curl_slist_free_all(pointer) }
}
