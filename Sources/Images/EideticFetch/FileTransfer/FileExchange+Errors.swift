import CCurl
import EideticCore

extension FileExchange {
    /// Returns the error of an exchange that libcurl has ended; `nil` if it has a complete response.
    func fault(after code: CURLcode) -> EideticError? {
        guard code == CURLE_OK else { return error(for: code) }
        return lineParser.isComplete ? nil : lineParser.incompleteHeadError(url: request.url)
    }

    private func error(for code: CURLcode) -> EideticError {
        let number = handle.integer(for: CURLINFO_OS_ERRNO)
        if handle.hasFoundEndlessLine(code) {
            let part = lineParser.isComplete ? "the trailer of the body" : "the response head"
            return EideticError(.badResponse, message: "\(request.url): \(part) has a line that has no end")
        }
        return EideticError(
            // A transfer outlives a server's wrong configuration.
            code == CURLE_SSL_CONNECT_ERROR ? .connectionLost : handle.errorCode(for: code),
            message: "\(request.url): \(handle.message(for: code))",
            systemErrorNumber: number == 0 ? nil : Int32(truncatingIfNeeded: number)
        )
    }
}
