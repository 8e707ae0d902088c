import CCurl
package import EideticCore
import EideticHTTP
import Glibc

/// One exchange that runs in a ``FileTransferLoop``; it is used on the loop's thread only.
package final class FileExchange: CurlReceiver {
    package let request: FileExchangeRequest
    /// The receiver, retained until the exchange has ended.
    private(set) var delegate: (any FileExchangeDelegate)?
    let handle: EasyHandle
    /// The origin of the URL; `nil` if that is invalid.
    let origin: Origin?
    /// The time of the last byte in either direction, by the loop's clock.
    package internal(set) var lastActivity: Duration
    var failure: EideticError?
    /// The status of the response as soon as its first line has arrived; `nil` before, and after provisional responses.
    package var status: Int? { lineParser.head.status >= 200 ? lineParser.head.status : nil }
    private(set) var lineParser = HeadLineParser()
    private let clock: () -> Duration

    init(
        _ request: FileExchangeRequest,
        delegate: any FileExchangeDelegate,
        handle: EasyHandle,
        clock: @escaping () -> Duration
    ) {
        self.request = request
        self.delegate = delegate
        self.handle = handle
        origin = (try? TransferURL(request.url))?.origin
        self.clock = clock
        lastActivity = clock()
    }

    static func running(on easy: UnsafeMutableRawPointer) -> FileExchange? {
        var pointer: UnsafeMutableRawPointer?
        eidetic_curl_get_pointer(easy, CURLINFO_PRIVATE, &pointer)
        return pointer.map { Unmanaged<FileExchange>.fromOpaque($0).takeUnretainedValue() }
    }

    func finish(failure: EideticError?) {
        let delegate = delegate
        self.delegate = nil
        delegate?.finish(failure: failure)
    }

    func receive(head lines: UnsafeRawBufferPointer) -> Bool {
        lastActivity = clock()
        guard lineParser.byteCount + lines.count <= HeadLineParser.limit else {
            return refuseHead("is longer than \(HeadLineParser.limit) bytes")
        }
        return lines.allLines { !lineParser.append($0) || finishHead() }
    }

    private func finishHead() -> Bool {
        let incomingHead = lineParser.head
        if let fault = incomingHead.framingFault { return refuseHead(fault) }
        var response = FileResponse(incomingHead)
        response.isFromPublicAddress = isConnectedToPublicAddress
        guard incomingHead.status >= 200 else {
            delegate?.receive(provisional: response)
            return true
        }
        lineParser.isComplete = true
        if response.isRedirect, let location = incomingHead.headers.values(for: "Location").first {
            response.redirectTarget = ParsedURL.resolve(location, against: request.url)
        }
        do throws(EideticError) {
            try delegate?.receive(response)
            return true
        } catch {
            return fail(error)
        }
    }

    func receive(body chunk: UnsafeRawBufferPointer) -> ReceiveResult {
        lastActivity = clock()
        do throws(EideticError) {
            try delegate?.receive(body: chunk)
            return .accepted
        } catch {
            _ = fail(error)
            return .refused
        }
    }

    func refuseAddress(_ address: UnsafePointer<sockaddr>) {
        let host = origin?.description ?? ""
        let message = "a redirect from a public address leads to \(host) in a private network, which is not allowed"
        _ = fail(EideticError(.badRedirect, message: message))
    }

    /// Reads bytes of the request's body; returns `nil` to end the exchange.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        lastActivity = clock()
        do throws(EideticError) {
            return try delegate?.read(into: buffer) ?? 0
        } catch {
            _ = fail(error)
            return nil
        }
    }

    /// Records the reason for which the exchange ends; returns `false`.
    func fail(_ error: EideticError) -> Bool {
        failure = failure ?? error
        return false
    }

    private var isConnectedToPublicAddress: Bool {
        handle.string(for: CURLINFO_PRIMARY_IP).flatMap(NetworkAddress.init(text:))?.isPublic ?? false
    }

    /// Ends the exchange because of its head; returns `false`.
    private func refuseHead(_ fault: String) -> Bool {
        fail(EideticError(.badResponse, message: "\(request.url): the response head \(fault)", httpStatus: status))
    }
}

extension NetworkAddress {
    /// Creates an address from its text; `nil` if it is none.
    init?(text: String) {
        var (ipv4, ipv6) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, text, &ipv4) == 1 {
            self.init(bytes: withUnsafeBytes(of: ipv4) { Array($0) })
        } else if inet_pton(AF_INET6, text, &ipv6) == 1 {
            self.init(bytes: withUnsafeBytes(of: ipv6) { Array($0) })
        } else {
            return nil
        }
    }
}

/// The receiver of an exchange; it is called on the thread of the loop.
package protocol FileExchangeDelegate: AnyObject {
    /// Receives a provisional response (status 1xx).
    func receive(provisional response: FileResponse)
    /// Receives the head of the response; throws to end the exchange with this error.
    func receive(_ response: FileResponse) throws(EideticError)
    /// Receives bytes of the body; throws to end the exchange with this error.
    func receive(body chunk: UnsafeRawBufferPointer) throws(EideticError)
    /// Fills the buffer with the next bytes of the request's body, and returns their number, 0 at the end; throws to
    /// end the exchange with this error.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(EideticError) -> Int
    /// Sets the position of the next byte of the request's body, if it must be sent again from there.
    func seek(to offset: Int) -> Bool
    /// Ends the exchange: called once, last; `failure` is `nil` if the response is complete.
    func finish(failure: EideticError?)
}

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
