import EideticCore
import EideticHTTP

extension Credentials {
    /// Checks the credentials against header injection, and against control characters, which no credentials have.
    ///
    /// - Throws: `invalidArgument`; its message does not contain the credentials.
    func validate() throws(EideticError) {
        let texts: [String]
        switch self {
        case .basic(let user, let password), .digest(let user, let password): texts = [user, password]
        case .bearer(let token): texts = [token]
        }
        guard !texts.contains(where: \.containsControlCharacter) else {
            throw EideticError(.invalidArgument, message: "the credentials contain a control character")
        }
    }
}
