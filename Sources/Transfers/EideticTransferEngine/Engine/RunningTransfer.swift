import EideticCore
import EideticFetch
import EideticHTTP
import EideticTransfer
import Glibc

/// A transfer with a connection: one or more exchanges, until it has ended or must wait.
///
/// It is used on the engine's thread only.
class RunningTransfer: FileExchangeDelegate {
    unowned let engine: TransferEngine
    let added: AddedTransfer
    let session: TransferSession
    var configuration: TransferSessionConfiguration { session.configuration }
    var number: UInt64 { added.number }
    var application: TransferApplication { session.application }
    let connection: TransferQueue.Connection
    var exchange: FileExchange?
    /// The status of the last exchange that has ended; `nil` if its response had none.
    private(set) var lastStatus: Int?
    var sink: BodySink?
    var part: PartDescription?
    /// The decoding of the complete body; `nil` before, and for a body without a content coding.
    private(set) var decoding: SinkDecoding?
    /// The URL and the header fields of the current exchange, after redirects.
    var target: TransferURL
    var fields: HTTPHeaders
    /// A Boolean value indicating whether this attempt has transferred bytes that need not be transferred again.
    var hasProgress: Bool { false }
    /// A Boolean value indicating whether a later attempt continues what this one has transferred.
    var canContinue: Bool { sink?.length ?? 0 == 0 || part?.validator != nil }
    /// The status of the answer that a request has had which must not be sent again; otherwise, `nil`.
    var unrepeatableStatus: Int? { nil }
    /// The uptime at which the attempt was started.
    var startTime: Duration = .zero
    var pace = TransferPace()
    /// The step after the current response, whose body is dropped; `nil` to keep the body.
    var followUp: FollowUp?
    /// The number of bytes up to which the part file is being made safe.
    var requestedMark = 0
    private var redirectCount = 0
    /// A Boolean value indicating whether only public addresses may be connected to.
    var requiresPublicAddress = false
    private var lastRedirectStatus = 0
    private var discardedBytes = 0
    private var headTime: Duration = .zero

    /// A step that follows a response.
    enum FollowUp {
        case redirect(TransferURL)
        case retry(after: Duration?, EideticError)
        case next(() throws(EideticError) -> Void)
    }

    /// The largest body of a response that is dropped; a longer one ends the connection.
    private static let discardLimit = 65_536
    /// The time after which a small body is moved to its file.
    private static let bufferTime: Duration = .seconds(1)

    init(engine: TransferEngine, added: AddedTransfer, session: TransferSession, row: TransferRow) throws(EideticError)
    {
        self.engine = engine
        self.added = added
        self.session = session
        connection = TransferQueue.Connection(
            application: session.application.index,
            host: row.host,
            session: session.number
        )
        target = try TransferURL(added.request.url)
        fields = added.request.headers
    }

    /// Starts the first exchange, or another one with the target of a redirect.
    func start() throws(EideticError) {}

    /// The number of bytes that are safe with the receiver of the transfer, and the number of all.
    var progress: (completed: Int, total: Int?) { (sink?.length ?? 0, part?.totalLength) }

    // MARK: Exchanges
    /// Starts an exchange with the current target.
    func send(_ method: String, headers: HTTPHeaders, bodyLength: Int? = nil) throws(EideticError) {
        var request = FileExchangeRequest(method: method, url: target.text, headers: headers)
        request.bodyLength = bodyLength
        request.expectsContinue = bodyLength ?? 0 > 0
        request.requiresPublicAddress = requiresPublicAddress
        request.cookieJar = configuration.usesCookies ? application.index : nil
        followUp = nil
        lastStatus = nil
        discardedBytes = 0
        exchange = try engine.loop.start(request, delegate: self)
    }

    /// Sends the request again to the target of a redirect.
    func follow(status: Int) throws(EideticError) { try start() }

    func receive(provisional response: FileResponse) {}

    func receive(_ response: FileResponse) throws(EideticError) {
        headTime = engine.clock.now
        if response.isRedirect, isFollowed(response) {
            try redirect(response)
        } else if configuration.retriesUnavailable, response.status == 429 || response.status == 503 {
            let error = EideticError(
                .httpStatus,
                message: "\(target.text): the server responded with status \(response.status)",
                httpStatus: response.status
            )
            followUp = .retry(after: response.retryDelay(now: engine.time.now), error)
        } else {
            try accept(response)
        }
    }

    /// Decides about the body of a response that is no redirect, or one that is not followed.
    func accept(_ response: FileResponse) throws(EideticError) { beginBody(of: response) }

    /// Begins a new body, which replaces an earlier part when its first byte is written.
    func beginBody(of response: FileResponse) {
        let part = PartDescription(
            validator: response.status == 200 ? response.strongValidator : nil,
            effectiveURL: target.text,
            totalLength: response.contentLength,
            status: response.status,
            headers: PartDescription.keptFields(of: response.headers)
        )
        self.part = part
        sink = BodySink(path: application.partPath(number), fileSystem: engine.fileSystem) {
            [unowned self] () throws(SystemError) in
            if added.request.kind == .download { try engine.store.record(part, of: number) }
        }
    }

    func receive(body chunk: UnsafeRawBufferPointer) throws(EideticError) {
        if followUp != nil {
            discardedBytes += chunk.count
            guard discardedBytes <= Self.discardLimit else {
                throw EideticError(.badResponse, message: "\(target.text): the body that is not needed is too long")
            }
            return
        }
        guard let sink else { return }
        try engine.checkSpace(for: chunk.count, of: self)
        do throws(SystemError) {
            try sink.append(chunk)
            if sink.file == nil, engine.clock.now - headTime > Self.bufferTime { try sink.moveToFile() }
        } catch {
            throw EideticError(error)
        }
        engine.didReceive(chunk.count, by: self)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(EideticError) -> Int { 0 }

    func seek(to offset: Int) -> Bool { false }

    func finish(failure: EideticError?) {
        lastStatus = exchange?.status
        exchange = nil
        do throws(EideticError) {
            switch followUp {
            case .redirect(let target): try follow(to: target)
            case .retry(let delay, let error):
                engine.attemptFailed(self, with: error, retryAfter: delay, retriesAnswer: true)
            case .next(let step): try step()
            case nil:
                if let failure { throw failure }
                try complete()
            }
        } catch {
            engine.attemptFailed(self, with: error, retryAfter: nil)
        }
    }

    /// Checks the complete body, and ends the transfer, or begins to decode the body.
    func complete() throws(EideticError) {
        guard let part, let sink else {
            throw EideticError(.badResponse, message: "\(target.text): the server sent no response")
        }
        if let total = part.totalLength, total != sink.length {
            throw EideticError(
                .lengthMismatch,
                message: "\(target.text): \(total) bytes were announced, but \(sink.length) arrived"
            )
        }
        let path = application.outboxPath(number)
        decoding = try SinkDecoding(of: sink, part: part, to: path, fileSystem: engine.fileSystem)
        if decoding == nil { engine.complete(self, part: part, sink: sink) }
    }

    /// Decodes a piece of the complete body, and ends the transfer after the last one.
    func decodePiece() {
        guard let decoding, let part, let sink else { return }
        do throws(EideticError) {
            let isComplete = try decoding.decodePiece { count throws(EideticError) in
                try engine.checkSpace(for: count, of: self)
            }
            if added.request.kind == .download {
                engine.store.setDiskBytes(sink.length + decoding.result.length, of: number)
            }
            if isComplete { engine.complete(self, part: part, sink: decoding.result) }
        } catch {
            engine.decodingFailed(self, with: error)
        }
    }

    // MARK: Redirects
    /// Returns whether the request follows a redirect, whose response is its result otherwise.
    private func isFollowed(_ response: FileResponse) -> Bool {
        switch added.request.redirects {
        case .all: true
        case .none: false
        case .sameOrigin: (try? target.redirected(to: response.redirectTarget))?.origin == target.origin
        }
    }

    private func redirect(_ response: FileResponse) throws(EideticError) {
        let limit = Downloader.Configuration.standardMaximumRedirects
        guard redirectCount < limit else {
            throw EideticError(.badRedirect, message: "\(target.text): more than \(limit) redirects in a row")
        }
        let next = try target.redirected(to: response.redirectTarget)
        restrictAddresses(after: response)
        lastRedirectStatus = response.status
        followUp = .redirect(next)
    }

    /// Restricts the addresses of the URLs to which a response from a public address leads.
    func restrictAddresses(after response: FileResponse) {
        if response.isFromPublicAddress, !configuration.allowsPrivateRedirects { requiresPublicAddress = true }
    }

    private func follow(to next: TransferURL) throws(EideticError) {
        if next.origin != target.origin { fields = fields.safeForOtherOrigins }
        redirectCount += 1
        target = next
        try follow(status: lastRedirectStatus)
    }

    /// Keeps what has arrived, as far as it can be continued.
    func keepPart() {
        guard let sink, part?.validator != nil, sink.length > 0, added.request.kind == .download else { return }
        try? sink.moveToFile()
    }
}
