import CCurl
package import EideticCore

extension LibraryVersion {
    /// The libraries of this module, and those that libcurl is linked with.
    package static var fetch: [LibraryVersion] {
        guard let text = curl_version() else { return [] }
        // "libcurl/7.88.1 OpenSSL/3.0.15 zlib/1.2.13 libpsl/0.21.2 (+libidn2/2.3.3)"
        return String(cString: text).split(separator: " ").compactMap { word in
            let parts = word.filter { !"()+".contains($0) }.split(separator: "/")
            return parts.count < 2 ? nil : LibraryVersion(String(parts[0]), version: String(parts[1]))
        }
    }
}
