package import EideticCore

extension HTTPHeaders {
    /// Checks the fields against header injection.
    ///
    /// - Throws: `invalidArgument` for a name that is not a token, or a value with a line break or a NUL.
    package func validate() throws(EideticError) {
        for field in fields {
            guard field.name.isHTTPToken else {
                throw EideticError(
                    .invalidArgument,
                    message: "\"\(field.name)\" is not a valid name of a header field"
                )
            }
            guard !field.value.containsLineBreakOrNUL else {
                throw EideticError(
                    .invalidArgument,
                    message: "the value of the header field \(field.name) contains a line break or a NUL"
                )
            }
        }
    }

    /// The error of ``validate()``; `nil` if all fields are valid.
    package var validationError: EideticError? {
        do throws(EideticError) {
            try validate()
            return nil
        } catch {
            return error
        }
    }
}

extension String {
    /// A Boolean value indicating whether the text is a token (RFC 9110, section 5.6.2).
    package var isHTTPToken: Bool { !isEmpty && utf8.allSatisfy(Self.isTokenByte) }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// A Boolean value indicating whether the text cannot be a part of a line of HTTP.
    package var containsLineBreakOrNUL: Bool { utf8.contains { $0 == 0 || $0 == 10 || $0 == 13 } }
}
