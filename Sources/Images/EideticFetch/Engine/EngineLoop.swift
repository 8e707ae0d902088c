import CCurl
import EideticCore

/// The event loop of the engine's thread, the only thread that calls libcurl.
final class EngineLoop {
    private let inbox: EngineInbox
    private let options: EngineOptions
    private let onEnd: @Sendable (ExchangeRequest) -> Void
    private let multiHandle = MultiHandle()
    private var multi: UnsafeMutableRawPointer { multiHandle.pointer }
    private let time: any TimeSource
    private let share = HandleShare(includingCookies: false)
    private let cookieShare = HandleShare(includingCookies: true)
    private let poller: EventPoller
    private let clock: ActiveClock
    private var rateLimiter: RateLimiter?
    private var activeExchanges: [UInt64: Exchange] = [:]
    private var connectionHealth = ConnectionHealth()
    private var completions = CompletionQueue()
    private let decodingList = DecodingList()
    private var lastHeaderList: HeaderList?
    private var isStopping = false
    /// The earliest time at which an exchange can time out; received bytes only postpone it.
    private var nextCheck: Duration = .zero

    init(inbox: EngineInbox, options: EngineOptions, onEnd: @escaping @Sendable (ExchangeRequest) -> Void) {
        self.inbox = inbox
        self.options = options
        self.onEnd = onEnd
        poller = EventPoller(
            multiHandle: multiHandle,
            wakeupDescriptor: inbox.wakeupDescriptor,
            observesNetwork: options.observesNetwork
        )
        time = options.time
        clock = ActiveClock(uptime: time.uptime)
        rateLimiter = options.maximumBytesPerSecond.map { RateLimiter(bytesPerSecond: $0, now: .zero) }
        eidetic_curl_multi_set_long(multiHandle.pointer, CURLMOPT_MAXCONNECTS, 64)
        eidetic_curl_multi_set_long(multiHandle.pointer, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    }

    func run() {
        while !isStopping {
            let commands = inbox.drain()
            if !commands.isEmpty, activeExchanges.isEmpty { clock.advance(to: time.uptime, isIdle: true) }
            for command in commands { execute(command) }
            poller.fireExpiredTimer()
            readMessages()
            continueDecoding()
            enforceLimits()
            if completions.isDue(at: clock.now) { completions.flush() }
            if !isStopping { waitForEvents() }
        }
        stop()
    }

    /// Waits for an event, after calling the completions that are left; does not wait while bytes are to be decoded.
    private func waitForEvents() {
        if !completions.isEmpty || decodingList.hasReady {
            if !poll(timeout: .zero) { completions.flush() }
        } else if inbox.prepareToSleep() {
            _ = poll(timeout: activeExchanges.isEmpty ? nil : max(.zero, nextCheck - clock.now))
        }
    }

    /// Polls for events; returns `true` if there is one.
    private func poll(timeout: Duration?) -> Bool {
        let hasEvents = poller.wait(timeout: timeout)
        // The clock must be right before libcurl delivers bytes, which record their time.
        clock.advance(to: time.uptime, isIdle: activeExchanges.isEmpty)
        if poller.dispatchEvents(exchangeCount: activeExchanges.count) {
            recordNetworkChange()
            options.onNetworkChange()
        }
        return hasEvents
    }

    private func execute(_ command: EngineCommand) {
        switch command {
        case .start(let request, let queued): start(request, queued: queued)
        case .cancel(let id): if let exchange = activeExchanges[id] { cancel(exchange) }
        case .readerReady(let id): removePause(.reader, from: activeExchanges[id])
        case .setSuspended(let id, isSuspended: true): activeExchanges[id]?.addPause(.suspended)
        case .setSuspended(let id, isSuspended: false): removePause(.suspended, from: activeExchanges[id])
        case .setRateLimit(let limit): setRateLimit(limit)
        case .memoryReleased: resumeAfterRelease()
        case .networkChanged: recordNetworkChange()
        case .removeCookies: cookieShare.removeCookies()
        case .stop: isStopping = true
        }
    }

    private func stop() {
        let lateCommands = inbox.close()
        for exchange in activeExchanges.values { cancel(exchange) }
        completions.flush()
        for case .start(let request, _) in lateCommands { request.completion(.cancelled)() }
    }
}

// MARK: Exchanges
extension EngineLoop {
    /// Starts an exchange; `previous` is the one that it repeats over a new connection.
    private func start(_ request: ExchangeRequest, queued: Duration, repeating previous: Exchange? = nil) {
        do throws(EideticError) {
            try request.validate()
            try options.curl.check()
        } catch {
            return complete(request, with: ExchangeOutcome(error: error))
        }
        guard let handle = EasyHandle() else {
            let error = EideticError(.outOfMemory, message: "no memory for the download of \(request.url)")
            return complete(request, with: ExchangeOutcome(error: error))
        }
        let exchange = Exchange(
            request: request,
            queued: queued,
            handle: handle,
            clock: clock,
            time: options.time,
            bodyBudget: options.bodyBudget,
            decodingList: decodingList,
            repeating: previous
        )
        exchange.configure(with: options, lastHeaderList: &lastHeaderList)
        share(for: request).attach(to: exchange.easy, for: request.origin)
        if !connectionHealth.isHealthy {
            exchange.apply(connectionHealth.reusePolicy(for: request.origin, now: clock.now))
        }
        if previous != nil { exchange.apply(.init(requiresNewConnection: true, maximumAge: nil)) }
        exchange.rateLimiter = rateLimiter
        activeExchanges[request.id] = exchange
        nextCheck = min(nextCheck, clock.now + min(exchange.remainingTime(), ActiveClock.maximumWait))
        let code = curl_multi_add_handle(multi, exchange.easy)
        guard code == CURLM_OK else {
            let reason = String(cString: curl_multi_strerror(code))
            exchange.fail(EideticError(.outOfMemory, message: "\(request.url): \(reason)"))
            return finish(exchange, code: CURLE_OUT_OF_MEMORY)
        }
        if previous?.pauseReasons.contains(.suspended) == true { exchange.addPause(.suspended) }
    }

    private func cancel(_ exchange: Exchange) {
        exchange.fail(.cancelled)
        finish(exchange, code: CURLE_ABORTED_BY_CALLBACK)
    }

    /// Removes a reason to pause an exchange; finishes the exchange if it ends as it resumes.
    private func removePause(_ reason: Exchange.PauseReason, from exchange: Exchange?) {
        guard let exchange, let code = exchange.removePause(reason) else { return }
        finish(exchange, code: code)
    }

    /// Removes an exchange from libcurl, and completes its request, or sends it once more.
    private func finish(_ exchange: Exchange, code: CURLcode) {
        activeExchanges[exchange.request.id] = nil
        decodingList.remove(exchange)
        let origin = exchange.request.origin
        share(for: exchange.request).recordEnd(of: origin, code: code)
        if exchange.mayBeRepeated(after: code, originAnswers: connectionHealth.answers(origin)) {
            curl_multi_remove_handle(multi, exchange.easy)
            return start(exchange.request, queued: exchange.queued, repeating: exchange)
        }
        let outcome = exchange.makeOutcome(code: code)
        if code != CURLE_ABORTED_BY_CALLBACK { connectionHealth.recordEnd(of: origin, isAnswered: outcome.head != nil) }
        if code == CURLE_OPERATION_TIMEDOUT { connectionHealth.recordTimeout(of: origin, now: clock.now) }
        if !connectionHealth.isHealthy { updateConnectionHealth(after: exchange, code: code) }
        curl_multi_remove_handle(multi, exchange.easy)
        complete(exchange.request, with: outcome)
    }

    private func share(for request: ExchangeRequest) -> HandleShare {
        request.fetchRequest.usesCookies ? cookieShare : share
    }

    private func complete(_ request: ExchangeRequest, with outcome: ExchangeOutcome) {
        onEnd(request)
        completions.add(request.completion(outcome), now: clock.now)
    }

    private func readMessages() {
        var remainingCount: Int32 = 0
        while let message = curl_multi_info_read(multi, &remainingCount) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            let code = message.pointee.data.result
            guard let exchange = Exchange.running(on: easy) else { continue }
            if code == CURLE_OK, exchange.hasPendingBytes {
                exchange.pendingCode = code
            } else {
                finish(exchange, code: code)
            }
        }
    }

    /// Continues to decode each body that has bytes left, by its share of this turn.
    private func continueDecoding() {
        for exchange in decodingList.ready {
            guard exchange.continueDecoding() else {
                finish(exchange, code: CURLE_WRITE_ERROR)
                continue
            }
            if exchange.hasPendingBytes { continue }
            if let code = exchange.pendingCode {
                finish(exchange, code: code)
            } else if let code = exchange.resume() {
                finish(exchange, code: code)
            }
        }
    }

    /// Resumes the exchanges for whose bodies there is memory.
    private func resumeAfterRelease() {
        for exchange in activeExchanges.values
        where exchange.pauseReasons.contains(.memory) && exchange.share?.mayGrow != false {
            removePause(.memory, from: exchange)
        }
    }
}

// MARK: Connections
extension EngineLoop {
    private func recordNetworkChange() {
        connectionHealth.recordNetworkChange(
            busyOrigins: activeExchanges.values.map(\.request.origin),
            now: clock.now
        )
    }

    /// Closes a suspected connection after its last exchange, and clears the suspicion after a response.
    ///
    /// The suspicion stays as long as another exchange may use a suspected connection of the same origin.
    private func updateConnectionHealth(after exchange: Exchange, code: CURLcode) {
        let origin = exchange.request.origin
        if isSuspected(exchange) {
            if code != CURLE_OK { exchange.forbidReuse() }
        } else if code == CURLE_OK,
            !activeExchanges.values.contains(where: { $0.request.origin == origin && isSuspected($0) })
        {
            connectionHealth.recordResponse(from: origin)
        }
    }

    private func isSuspected(_ exchange: Exchange) -> Bool {
        connectionHealth.isSuspected(exchange.request.origin, lastActivity: exchange.timer.lastActivity)
    }
}

// MARK: Limits
extension EngineLoop {
    /// Ends exchanges that have timed out, and admits as many bytes as the rate limit allows.
    private func enforceLimits() {
        clock.advance(to: time.uptime)
        if clock.now >= nextCheck { checkTimeouts() }
        refillRateLimiter()
    }

    private func checkTimeouts() {
        nextCheck = clock.now + ActiveClock.maximumWait
        for exchange in activeExchanges.values {
            let remaining = exchange.remainingTime()
            if remaining <= .zero {
                finish(exchange, code: CURLE_OPERATION_TIMEDOUT)
            } else {
                nextCheck = min(nextCheck, clock.now + min(remaining, ActiveClock.maximumWait))
            }
        }
    }

    private func setRateLimit(_ limit: Int?) {
        rateLimiter = limit.map { RateLimiter(bytesPerSecond: $0, now: clock.now) }
        for exchange in activeExchanges.values {
            exchange.rateLimiter = rateLimiter
            removePause(.rate, from: exchange)
        }
    }

    private func refillRateLimiter() {
        guard let rateLimiter else { return }
        rateLimiter.refill(at: clock.now)
        // The first exchanges use up the tokens; the random order makes the limit fair.
        if rateLimiter.delay == .zero {
            for exchange in activeExchanges.values.shuffled() { removePause(.rate, from: exchange) }
        }
        if rateLimiter.delay > .zero { nextCheck = min(nextCheck, clock.now + rateLimiter.delay) }
    }
}

/// The exchanges with received bytes that are still to be decoded, in later turns of the engine.
///
/// It is used on the engine's thread only.
final class DecodingList {
    private var exchanges: [UInt64: Exchange] = [:]

    /// The exchanges that can be continued: those that are paused for no other reason.
    var ready: [Exchange] {
        exchanges.isEmpty ? [] : exchanges.values.filter { $0.pauseReasons == .decoding }
    }

    /// A Boolean value indicating whether an exchange can be continued.
    var hasReady: Bool { !exchanges.isEmpty && exchanges.values.contains { $0.pauseReasons == .decoding } }

    func insert(_ exchange: Exchange) { exchanges[exchange.request.id] = exchange }

    func remove(_ exchange: Exchange) { if !exchanges.isEmpty { exchanges[exchange.request.id] = nil } }
}
