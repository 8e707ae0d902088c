import CCurl
import EideticCore

/// The engine's thread: the one place where libcurl runs.
final class EngineLoop {
    private let inbox: EngineInbox
    private let options: EngineOptions
    private let onEnd: @Sendable (TransferOrder) -> Void
    private let curl = CurlMulti()
    private var multi: UnsafeMutableRawPointer { curl.handle }
    private let time: any TimeSource
    private let jar = CookieJar()
    private let events: EngineEvents
    private let clock: ActiveClock
    private var rate: RateLimit?
    private var active: [UInt64: Transfer] = [:]
    private var doubts = ConnectionDoubts()
    private var answers = AnswerQueue()
    private var handles = EasyHandlePool()
    private var lastHeaders: HeaderList?
    private var isStopping = false
    /// When the first of the time-outs may be over; bytes only put it off.
    private var nextLook: Duration = .zero

    init(_ inbox: EngineInbox, _ options: EngineOptions, _ onEnd: @escaping @Sendable (TransferOrder) -> Void) {
        self.inbox = inbox
        self.options = options
        self.onEnd = onEnd
        events = EngineEvents(curl, bell: inbox.bell, observesNetwork: options.observesNetwork)
        time = options.time
        clock = ActiveClock(uptime: time.uptime)
        rate = options.bytesPerSecond.map { RateLimit(bytesPerSecond: $0, now: .zero) }
        eidetic_curl_multi_set_long(curl.handle, CURLMOPT_MAXCONNECTS, 64)
        eidetic_curl_multi_set_long(curl.handle, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    }

    func run() {
        while !isStopping {
            let commands = inbox.drain()
            if !commands.isEmpty, active.isEmpty { clock.look(at: time.uptime, isIdle: true) }
            for command in commands { obey(command) }
            events.keepTime()
            readMessages()
            lookAround()
            if answers.isDue(clock.now) { answers.give() }
            if !isStopping { rest() }
        }
        stop()
    }

    /// Waits for something to do; who still has answers to give does so where there is nothing.
    private func rest() {
        if !answers.isEmpty {
            if !wait(.zero) { answers.give() }
        } else if inbox.mayPoll() {
            _ = wait(active.isEmpty ? nil : max(.zero, nextLook - clock.now))
        }
    }

    /// Gives whether anything happened.
    private func wait(_ longest: Duration?) -> Bool {
        let isBusy = events.wait(longest)
        // Before libcurl brings bytes, whose time it is.
        clock.look(at: time.uptime, isIdle: active.isEmpty)
        if events.act(transfers: active.count) {
            doubtConnections()
            options.onNetworkChange()
        }
        return isBusy
    }

    private func obey(_ command: EngineCommand) {
        switch command {
        case .start(let order, let queued): start(order, queued)
        case .cancel(let id):
            guard let transfer = active[id] else { return }
            transfer.fail(.cancelled)
            finish(transfer, CURLE_ABORTED_BY_CALLBACK)
        case .readerReady(let id): lift(.reader, active[id])
        case .suspend(let id, true): active[id]?.hold(.suspended)
        case .suspend(let id, false): lift(.suspended, active[id])
        case .limitRate(let limit):
            rate = limit.map { RateLimit(bytesPerSecond: $0, now: clock.now) }
            for transfer in active.values {
                transfer.rate = rate
                lift(.rate, transfer)
            }
        case .doubtConnections: doubtConnections()
        case .removeCookies: jar.removeAll()
        case .stop: isStopping = true
        }
    }

    private func stop() {
        let late = inbox.close()
        for transfer in active.values {
            transfer.fail(.cancelled)
            finish(transfer, CURLE_ABORTED_BY_CALLBACK)
        }
        answers.give()
        for case .start(let order, _) in late { order.completion(.cancelled)() }
    }
}

// MARK: Exchanges
extension EngineLoop {
    private func start(_ order: TransferOrder, _ queued: Duration) {
        do throws(EideticError) {
            try order.validate()
        } catch {
            return answer(order, TransferOutcome(error: error))
        }
        guard let handle = handles.take() else {
            let error = EideticError(.outOfMemory, "no memory for the transfer of \(order.url)")
            return answer(order, TransferOutcome(error: error))
        }
        let transfer = Transfer(order, queued: queued, handle, options.files, clock)
        transfer.configure(options, jar, &lastHeaders)
        if !doubts.isEmpty { transfer.connect(doubts.way(to: order.origin, now: clock.now)) }
        transfer.rate = rate
        active[order.id] = transfer
        nextLook = min(nextLook, clock.now + min(transfer.timeLeft(), ActiveClock.longestWait))
        let code = curl_multi_add_handle(multi, transfer.easy)
        guard code == CURLM_OK else {
            transfer.fail(EideticError(.outOfMemory, "\(order.url): \(String(cString: curl_multi_strerror(code)))"))
            return finish(transfer, CURLE_OUT_OF_MEMORY)
        }
    }

    /// Lets an exchange go on, which may be the end of it.
    private func lift(_ reason: Transfer.Pause, _ transfer: Transfer?) {
        guard let transfer, let code = transfer.lift(reason) else { return }
        finish(transfer, code)
    }

    private func doubtConnections() { doubts.networkChanged(active.values.map(\.order.origin), now: clock.now) }

    /// Takes an exchange off, and has an answer of what came of it.
    private func finish(_ transfer: Transfer, _ code: CURLcode) {
        active[transfer.order.id] = nil
        let outcome = transfer.outcome(code)
        if code == CURLE_OPERATION_TIMEDOUT { doubts.add(transfer.order.origin, now: clock.now) }
        if !doubts.isEmpty { followDoubts(transfer, code) }
        curl_multi_remove_handle(multi, transfer.easy)
        if code == CURLE_OK, transfer.failure == nil, transfer.handle.isPrepared {
            transfer.forgetWay()
            handles.give(transfer.handle)
        }
        answer(transfer.order, outcome)
    }

    /// A connection that may be dead is closed with the last exchange on it; the doubt ends when something came and no exchange
    /// is left that may be on such a one.
    private func followDoubts(_ transfer: Transfer, _ code: CURLcode) {
        func isConcerned(_ other: Transfer) -> Bool { doubts.concern(other.order.origin, lastByte: other.lastByte) }
        let origin = transfer.order.origin
        if isConcerned(transfer) {
            if code != CURLE_OK { transfer.closeConnection() }
        } else if code == CURLE_OK, !active.values.contains(where: { $0.order.origin == origin && isConcerned($0) }) {
            doubts.remove(origin)
        }
    }

    private func answer(_ order: TransferOrder, _ outcome: TransferOutcome) {
        onEnd(order)
        answers.add(order.completion(outcome), now: clock.now)
    }

    private func readMessages() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            let code = message.pointee.data.result
            if let transfer = Transfer.of(easy) { finish(transfer, code) }
        }
    }

    /// Ends what has waited too long for a byte, and holds back what comes too fast.
    private func lookAround() {
        clock.look(at: time.uptime)
        if clock.now >= nextLook { lookAtTransfers() }
        lookAtRate()
    }

    private func lookAtTransfers() {
        nextLook = clock.now + ActiveClock.longestWait
        for transfer in active.values {
            let left = transfer.timeLeft()
            if left <= .zero {
                finish(transfer, CURLE_OPERATION_TIMEDOUT)
            } else {
                nextLook = min(nextLook, clock.now + min(left, ActiveClock.longestWait))
            }
        }
    }

    private func lookAtRate() {
        guard let rate else { return }
        rate.look(at: clock.now)
        // The first ones empty the bucket again and hold themselves back; who comes first changes from time to time.
        if rate.wait == .zero { for transfer in active.values.shuffled() { lift(.rate, transfer) } }
        if rate.wait > .zero { nextLook = min(nextLook, clock.now + rate.wait) }
    }
}
