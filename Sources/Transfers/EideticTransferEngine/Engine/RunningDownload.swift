import EideticCore
import EideticFetch
import EideticHTTP

/// A download: continues a part with `Range` and `If-Range` where the server has the same bytes still.
final class RunningDownload: RunningTransfer {
    /// The part of earlier attempts; `nil` if the body begins anew.
    private var storedPart: PartDescription?
    /// The length of that part if its remainder was requested; otherwise, 0.
    private var requestedOffset = 0
    /// The length of the part at the beginning of the attempt.
    private var initialLength = 0
    private var hasRestarted = false

    /// The length of the part file; `nil` if there is none.
    private var storedLength: Int? { try? engine.fileSystem.status(of: application.partPath(number)).size }

    /// A Boolean value indicating whether the part that is kept has become longer.
    override var hasProgress: Bool { part?.validator != nil && sink?.length ?? 0 > initialLength }

    override func start() throws(EideticError) {
        if !hasRestarted {
            guard let row = engine.store.rows[number] else { return }
            storedPart = try engine.store.part(of: row)
            initialLength = storedPart == nil ? 0 : storedLength ?? 0
        }
        var headers = fields
        // Offsets in the file are offsets in the body.
        headers["Accept-Encoding"] = "identity"
        requestedOffset = 0
        if let part = storedPart, let size = storedLength, size > 0 {
            if part.totalLength == size { return try completeStored(part) }
            if let validator = part.validator, isSameResource(part) {
                requestedOffset = size
                headers["Range"] = "bytes=\(size)-"
                headers["If-Range"] = validator
            }
        }
        try send("GET", headers: headers)
    }

    /// Returns a Boolean value indicating whether a part may be continued from the current target.
    ///
    /// The query is ignored: redirects to signed URLs have a new one each time.
    private func isSameResource(_ part: PartDescription) -> Bool {
        (try? TransferURL(part.effectiveURL))?.resource == target.resource
    }

    /// Ends a download whose last byte had arrived before the process was killed.
    private func completeStored(_ part: PartDescription) throws(EideticError) {
        try append(to: part)
        try complete()
    }

    private func append(to part: PartDescription) throws(EideticError) {
        do throws(SystemError) {
            sink = try BodySink(appendingTo: application.partPath(number), fileSystem: engine.fileSystem)
            self.part = part
        } catch {
            throw EideticError(error)
        }
    }

    override func accept(_ response: FileResponse) throws(EideticError) {
        guard requestedOffset > 0, let stored = storedPart else {
            guard fields["Range"] != nil || !response.isPart else {
                let fault = "the server sent a range that was not requested"
                throw EideticError(.badResponse, message: "\(target.text): \(fault)")
            }
            return beginBody(of: response)
        }
        switch response.status {
        case 206: try acceptRange(response, after: stored)
        case 416
        where stored.totalLength == nil && response.unsatisfiedRangeLength == requestedOffset
            && isUnchanged(response, since: stored):
            // The part is the whole body.
            try append(to: stored)
            self.part?.totalLength = requestedOffset
            followUp = .next { [unowned self] () throws(EideticError) in try complete() }
        case 416: restart()
        default: beginBody(of: response)
        }
    }

    private func acceptRange(_ response: FileResponse, after stored: PartDescription) throws(EideticError) {
        guard let range = response.partialRange, range.start == requestedOffset, isProven(response, since: stored),
            let total = stored.totalLength ?? range.total, range.total == nil || range.total == total
        else { return restart() }
        try append(to: stored)
        part?.totalLength = total
        guard sink?.length != requestedOffset else { return }
        restart()
    }

    /// Returns a Boolean value indicating whether a response has no other validator than the part.
    private func isUnchanged(_ response: FileResponse, since stored: PartDescription) -> Bool {
        guard let validator = stored.validator else { return false }
        let current = response.headers[Self.isTag(validator) ? "ETag" : "Last-Modified"]
        return (current ?? validator).hasSameBytes(as: validator)
    }

    /// Returns a Boolean value indicating whether a part of the body belongs to the version of the stored part.
    ///
    /// A server that understands `If-Range` repeats the ETag with status 206; it may leave out the date.
    private func isProven(_ response: FileResponse, since stored: PartDescription) -> Bool {
        let isTag = stored.validator.map(Self.isTag) ?? false
        let coding = response.headers["Content-Encoding"]
        return isUnchanged(response, since: stored) && (!isTag || response.headers["ETag"] != nil)
            && (coding == nil || coding == stored.headers["Content-Encoding"])
    }

    private static func isTag(_ validator: String) -> Bool { validator.utf8.first == UInt8(ascii: "\"") }

    /// Requests the whole body, after this response.
    private func restart() {
        sink = nil
        storedPart = nil
        requestedOffset = 0
        followUp = .next { [unowned self] () throws(EideticError) in
            hasRestarted = true
            try start()
        }
    }
}
