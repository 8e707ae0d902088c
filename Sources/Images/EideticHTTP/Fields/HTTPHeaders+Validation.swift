package import EideticCore

extension HTTPHeaders {
    /// Checks the fields against header injection.
    ///
    /// - Throws: `invalidArgument` for a name that is not a token, or a value with a control character.
    package func validate() throws(EideticError) {
        for field in fields {
            guard field.name.isHTTPToken else {
                throw EideticError(
                    .invalidArgument,
                    message: "\"\(field.name)\" is not a valid name of a header field"
                )
            }
            guard !field.value.containsControlCharacter else {
                throw EideticError(
                    .invalidArgument,
                    message: "the value of the header field \(field.name) contains a control character"
                )
            }
        }
    }

    /// Checks the fields of a request.
    ///
    /// - Throws: The error of ``validate()``; `invalidArgument` for a field with which others would find another end of
    ///   the request.
    package func validateForRequest() throws(EideticError) {
        try validate()
        if let field = fields.first(where: {
            ["content-length", "transfer-encoding"].contains($0.name.lowercasedASCII)
        }) {
            throw EideticError(
                .invalidArgument,
                message: "the header field \(field.name) cannot be set; the length of a request is that of its body"
            )
        }
    }

    /// The error of ``validateForRequest()``; `nil` if all fields are valid.
    package var requestError: EideticError? {
        do throws(EideticError) {
            try validateForRequest()
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

    /// A Boolean value indicating whether the text has a character that no value of a field may have: a control
    /// character other than a tab.
    ///
    /// - SeeAlso: RFC 9110, section 5.5.
    package var containsControlCharacter: Bool { utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f } }
}
