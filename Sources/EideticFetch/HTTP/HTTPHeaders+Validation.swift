package import EideticCore

extension HTTPHeaders {
    /// Refuses what would break out of its line: this is what header injection is made of.
    ///
    /// - Throws: `invalidArgument` for a name that is no token, or a value with a line break or a zero.
    package func validate() throws(EideticError) {
        for field in fields {
            guard !field.name.isEmpty, field.name.utf8.allSatisfy(Self.isTokenByte) else {
                throw EideticError(.invalidArgument, message: "\"\(field.name)\" cannot be the name of a header field")
            }
            guard !field.value.containsLineBreakOrNUL else {
                throw EideticError(.invalidArgument, message: "the value of \(field.name) holds a line break or a zero")
            }
        }
    }

    /// What ``validate()`` throws; `nil` where every field is good.
    var validationError: EideticError? {
        do throws(EideticError) {
            try validate()
            return nil
        } catch {
            return error
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

extension Credentials {
    /// Refuses what would break out of its line, or lose what follows a zero.
    ///
    /// - Throws: `invalidArgument`, which does not repeat what is wrong: it is secret.
    func validate() throws(EideticError) {
        let texts: [String]
        switch self {
        case .basic(let user, let password), .digest(let user, let password): texts = [user, password]
        case .bearer(let token): texts = [token]
        }
        guard !texts.contains(where: \.containsLineBreakOrNUL) else {
            throw EideticError(.invalidArgument, message: "the credentials hold a line break or a zero")
        }
    }
}

extension String {
    /// Whether the text would not stay within a line of HTTP: it holds a line break or a zero.
    var containsLineBreakOrNUL: Bool { utf8.contains { $0 == 0 || $0 == 10 || $0 == 13 } }
}
