import CCurl
import EideticCore
import Glibc

extension Exchange {
    /// Returns the error for a code of libcurl, with host and port in its message.
    func error(for code: CURLcode) -> EideticError {
        let number = Int32(truncatingIfNeeded: handle.integer(for: CURLINFO_OS_ERRNO))
        let systemErrorNumber = number == 0 ? nil : number
        switch code {
        case CURLE_PARTIAL_FILE:
            return head == nil ? headLines.incompleteHeadError(url: request.url) : truncatedBodyError
        case _ where handle.hasFoundEndlessLine(code):
            let part = head == nil ? "the response head" : "the trailer of the body"
            return EideticError(.badResponse, message: "\(request.url): \(part) has a line that has no end")
        case CURLE_COULDNT_CONNECT: return connectError(systemErrorNumber: systemErrorNumber)
        case CURLE_RECV_ERROR where (400..<500).contains(handle.integer(for: CURLINFO_HTTP_CONNECTCODE)):
            // The status belongs to the proxy, not to the origin, so `httpStatus` stays `nil`.
            let status = handle.integer(for: CURLINFO_HTTP_CONNECTCODE)
            return EideticError(
                .connectionRefused,
                message: "the proxy for \(request.origin) responded with status \(status) (\(request.url))"
            )
        case CURLE_COULDNT_RESOLVE_HOST:
            return EideticError(
                .hostNotFound,
                message: "the host \(request.origin.host) was not found (\(handle.message(for: code)))"
            )
        case CURLE_COULDNT_RESOLVE_PROXY:
            return EideticError(
                .hostNotFound,
                message: "the proxy for \(request.origin) was not found (\(handle.message(for: code)))"
            )
        default:
            return EideticError(
                handle.errorCode(for: code),
                message: "\(request.origin): \(handle.message(for: code)) (\(request.url))",
                httpStatus: head?.status,
                systemErrorNumber: systemErrorNumber
            )
        }
    }

    private func connectError(systemErrorNumber: Int32?) -> EideticError {
        let code: EideticError.Code = systemErrorNumber == ETIMEDOUT ? .timedOut : .connectionRefused
        let reason = systemErrorNumber.map(SystemError.message(for:)) ?? handle.message(for: CURLE_COULDNT_CONNECT)
        let target = unreachableProxy.map { "the proxy \($0) for \(request.origin)" } ?? "\(request.origin)"
        return EideticError(
            code,
            message: "cannot connect to \(target): \(reason)",
            systemErrorNumber: systemErrorNumber
        )
    }

    /// The host and port of the proxy that a connection could not be made to; `nil` without a proxy.
    ///
    /// The environment may name a proxy, and exceptions from it; libcurl's message is the only sign of its choice.
    private var unreachableProxy: String? {
        let words = handle.message(for: CURLE_COULDNT_CONNECT).split(separator: " ")
        guard words.starts(with: ["Failed", "to", "connect", "to"]), words.count > 6, words[5] == "port"
        else { return nil }
        let peer = "\(words[4]):\(words[6])"
        let host = request.origin.host.filter { !"[]".contains($0) }
        return peer == "\(host):\(request.origin.port)" ? nil : peer
    }

    /// The error of a connection that the server closed regularly, but before the end of the body.
    private var truncatedBodyError: EideticError {
        guard let length = head?.contentLength else {
            return EideticError(
                .connectionLost,
                message: "\(request.url): the connection was closed within the body, after \(body.bytes.count) bytes"
            )
        }
        let received = body.bytes.isEmpty ? "" : " after \(body.bytes.count)"
        return EideticError(
            .lengthMismatch,
            message: "\(request.url): \(length) bytes were announced, but the connection was closed\(received)"
        )
    }

    /// Records that a connection to an address in a private network was refused.
    func refuseAddress(_ address: UnsafePointer<sockaddr>) {
        let text = NetworkAddress(address).map(\.description) ?? "an unknown address family"
        let reason = "resolves to a private network (\(text)), which refusesPrivateNetworks forbids"
        fail(EideticError(.refused, message: "\(request.origin) \(reason)"))
    }
}
