import EideticCore
import EideticFetch
import EideticHTTP
import EideticTransfer
import Glibc

/// An upload of a file: resumable where the server offers it, otherwise sent whole in each attempt.
///
/// - SeeAlso: draft-ietf-httpbis-resumable-upload, interop version 6.
final class RunningUpload: RunningTransfer {
    private enum Step { case create, probe, append }

    private var step = Step.create
    /// The URL of the upload at the server; `nil` if it has not offered one.
    private var location: TransferURL?
    /// The position of the first byte of the current request's body in the file.
    private var bodyStart = 0
    /// The position of the next byte to send.
    private var position = 0
    private var file: BodySink.File?
    private var conflictCount = 0
    /// The status of the redirect to the result of an upload, which a `GET` asks for.
    private var resultStatus: Int?
    private var hasAdvanced = false

    private static let version = "6"

    override var hasProgress: Bool { hasAdvanced }

    override var canContinue: Bool { position == 0 || location != nil }

    override var unrepeatableStatus: Int? {
        // An upload with a location is continued from what the server has, and a step that follows is another request.
        guard step == .create, location == nil, followUp == nil, !FetchRequest.isIdempotent(added.request.method)
        else { return nil }
        let status = resultStatus ?? exchange?.status ?? lastStatus
        // A server that is unavailable has not acted on the request.
        return status == 429 || status == 503 ? nil : status
    }

    override var progress: (completed: Int, total: Int?) { (position, added.uploadLength) }

    override func start() throws(EideticError) {
        do throws(SystemError) {
            file = BodySink.File(try engine.fileSystem.open(application.uploadPath(number), flags: O_RDONLY))
        } catch {
            throw EideticError(error)
        }
        guard let row = engine.store.rows[number] else { return }
        if let stored = try engine.store.uploadLocation(of: row), !stored.url.isEmpty {
            location = try TransferURL(stored.url)
            requiresPublicAddress = stored.requiresPublicAddress
            try probe()
        } else {
            try create()
        }
    }

    private func create() throws(EideticError) {
        step = .create
        bodyStart = 0
        position = 0
        var headers = fields
        headers["Upload-Draft-Interop-Version"] = Self.version
        headers["Upload-Complete"] = "?1"
        try send(added.request.method, headers: headers, bodyLength: added.uploadLength)
    }

    override func follow(status: Int) throws(EideticError) {
        let method = step == .append ? "PATCH" : added.request.method
        let keepsMethod = status != 303 && (method != "POST" || ![301, 302].contains(status))
        switch step {
        case .probe:
            location = target
            try probe()
        case .append where keepsMethod:
            location = target
            try append(from: bodyStart)
        case .create where keepsMethod: try create()
        default:
            step = .create
            resultStatus = status
            try send("GET", headers: fields)
        }
    }

    /// Asks the server for the number of bytes that it has.
    private func probe() throws(EideticError) {
        step = .probe
        var headers = try headersForLocation()
        headers["Upload-Draft-Interop-Version"] = Self.version
        try send("HEAD", headers: headers)
    }

    private func append(from offset: Int) throws(EideticError) {
        step = .append
        bodyStart = offset
        position = offset
        var headers = try headersForLocation()
        headers["Upload-Draft-Interop-Version"] = Self.version
        headers["Upload-Complete"] = "?1"
        headers["Upload-Offset"] = "\(offset)"
        headers["Content-Type"] = "application/partial-upload"
        try send("PATCH", headers: headers, bodyLength: added.uploadLength - offset)
    }

    private func headersForLocation() throws(EideticError) -> HTTPHeaders {
        guard let location else { return fields }
        let isSameOrigin = location.origin == target.origin
        target = location
        if !isSameOrigin { fields = fields.safeForOtherOrigins }
        return fields.removing(["Content-Type", "Content-Disposition"])
    }

    override func receive(provisional response: FileResponse) {
        guard response.status == 104, step == .create, resultStatus == nil,
            let reference = response.headers["Location"],
            let location = try? target.redirected(to: target.resolve(reference)?.text)
        else { return }
        restrictAddresses(after: response)
        self.location = location
        try? engine.store.record(
            uploadLocation: location.text,
            requiresPublicAddress: requiresPublicAddress,
            of: number
        )
    }

    override func accept(_ response: FileResponse) throws(EideticError) {
        switch step {
        case .create: beginBody(of: response)
        case .probe: try acceptProbe(response)
        case .append where [404, 409, 410].contains(response.status) && conflictCount < 5:
            conflictCount += 1
            let isGone = response.status != 409
            followUp = .next { [unowned self] () throws(EideticError) in
                if isGone { try beginAgain() } else { try probe() }
            }
        case .append: beginBody(of: response)
        }
    }

    private func acceptProbe(_ response: FileResponse) throws(EideticError) {
        guard !(500..<600).contains(response.status), response.status != 429 else {
            let message = "\(target.text): the server responded with status \(response.status)"
            let error = EideticError(.httpStatus, message: message, httpStatus: response.status)
            followUp = .retry(after: response.retryDelay(now: engine.time.now), error)
            return
        }
        let offset = response.headers["Upload-Offset"].flatMap(Int.init)
        noteProgress(offset ?? 0)
        if (200..<300).contains(response.status), response.headers["Upload-Complete"] == "?1" {
            // The server has all; its response to the upload was lost, and this is the one that there is.
            position = added.uploadLength
            beginBody(of: response)
            part?.headers[TransferEvent.Response.lostAnswerField] = "?1"
            return
        }
        followUp = .next { [unowned self] () throws(EideticError) in
            if (200..<300).contains(response.status), let offset, (0...added.uploadLength).contains(offset) {
                try append(from: offset)
            } else {
                try beginAgain()
            }
        }
    }

    /// Records the offset that the server states, if it is larger than before.
    private func noteProgress(_ offset: Int) {
        guard offset > engine.store.rows[number]?.confirmedOffset ?? 0, offset <= added.uploadLength else { return }
        engine.store.rows[number]?.confirmedOffset = offset
        hasAdvanced = true
    }

    /// Sends the whole file again, because the server does not have the upload any more.
    private func beginAgain() throws(EideticError) {
        location = nil
        target = try TransferURL(added.request.url)
        fields = added.request.headers
        requiresPublicAddress = false
        do throws(SystemError) {
            try engine.store.record(uploadLocation: nil, requiresPublicAddress: false, of: number)
        } catch {
            throw EideticError(error)
        }
        try create()
    }

    override func read(into buffer: UnsafeMutableRawBufferPointer) throws(EideticError) -> Int {
        guard let file else { return 0 }
        let rest = min(buffer.count, added.uploadLength - position)
        guard rest > 0 else { return 0 }
        do throws(SystemError) {
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<rest])
            let count = try engine.fileSystem.read(file.descriptor, at: position, into: part)
            guard count > 0 else { throw SystemError(.read, errorNumber: EIO, path: application.uploadPath(number)) }
            position += count
            return count
        } catch {
            throw EideticError(error)
        }
    }

    override func seek(to offset: Int) -> Bool {
        guard offset <= added.uploadLength - bodyStart else { return false }
        position = bodyStart + offset
        return true
    }

    override func complete() throws(EideticError) {
        // A HEAD response announces the length of a body that it does not have.
        if step == .probe { part?.totalLength = nil }
        try super.complete()
    }
}
