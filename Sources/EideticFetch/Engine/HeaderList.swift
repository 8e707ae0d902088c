import CCurl

/// Header fields as a linked list of libcurl.
final class HeaderList {
    let fields: HTTPHeaders
    let pointer: UnsafeMutablePointer<curl_slist>?

    init(_ headers: HTTPHeaders) {
        fields = headers
        var pointer: UnsafeMutablePointer<curl_slist>?
        for field in headers.fields {
            // "Name:" would remove a field; "Name;" sends one with an empty value.
            let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
            pointer = curl_slist_append(pointer, line) ?? pointer
        }
        self.pointer = pointer
    }

    deinit { curl_slist_free_all(pointer) }
}
