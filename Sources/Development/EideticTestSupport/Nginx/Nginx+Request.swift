extension Nginx {
    /// A request in the server's log.
    package struct Request: Sendable, Hashable {
        /// The request method, such as "GET".
        package let method: String
        /// The path and query as sent, such as "/a.jpg?x=1".
        package let path: String
        /// The response's status; 499 if the client closed the connection before the response.
        package let status: Int
        /// The number of bytes of the body that were sent.
        package let bodyBytes: Int
        /// The server's number of the connection; equal for requests on one connection.
        package let connection: Int
        /// The protocol version, "HTTP/1.1" or "HTTP/2.0".
        package let version: String
        /// The request's header fields, limited to ``loggedHeaders``, with lowercase names.
        package let headers: [String: String]

        /// The lowercase names of the header fields in the log.
        package static let loggedHeaders = [
            "host", "user-agent", "accept", "accept-encoding", "range", "if-range", "if-none-match",
            "if-modified-since",
            "cookie", "authorization", "cache-control",
        ]

        static let logFormat: String = {
            let variables = loggedHeaders.map { "$http_" + $0.split(separator: "-").joined(separator: "_") }
            let fixed = [
                "$request_method", "$request_uri", "$status", "$body_bytes_sent", "$connection", "$server_protocol",
            ]
            return (fixed + variables).joined(separator: "\t")
        }()

        init?(line: Substring) {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 6 + Self.loggedHeaders.count,
                let status = Int(fields[2]), let bodyBytes = Int(fields[3]), let connection = Int(fields[4])
            else { return nil }
            method = fields[0]
            path = fields[1]
            self.status = status
            self.bodyBytes = bodyBytes
            self.connection = connection
            version = fields[5]
            let values = zip(Self.loggedHeaders, fields.dropFirst(6)).filter { $0.1 != "-" }
            headers = Dictionary(uniqueKeysWithValues: values)
        }
    }
}
