import EideticCore
import EideticHTTP

extension Credentials {
    /// Checks the credentials against header injection, and against a NUL, which would truncate them.
    ///
    /// - Throws: `invalidArgument`; its message does not contain the credentials.
    func validate() throws(EideticError) {
        let texts: [String]
        switch self {
        case .basic(let user, let password), .digest(let user, let password): texts = [user, password]
        case .bearer(let token): texts = [token]
        }
        guard !texts.contains(where: \.containsLineBreakOrNUL) else {
            throw EideticError(.invalidArgument, message: "the credentials contain a line break or a NUL")
        }
    }
}
