package import EideticCore

extension HTTPHeaders {
    /// Refuses what would break out of its line: this is what header injection is made of.
    ///
    /// - Throws: `invalidArgument` for a name that is no token, or a value with a line break or a zero.
    package func validate() throws(EideticError) {
        for field in fields {
            guard !field.name.isEmpty, field.name.utf8.allSatisfy(Self.isTokenByte) else {
                throw EideticError(.invalidArgument, "\"\(field.name)\" cannot be the name of a header field")
            }
            guard !field.value.utf8.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }) else {
                throw EideticError(.invalidArgument, "the value of \(field.name) holds a line break or a zero")
            }
        }
    }

    /// RFC 9110, section 5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
