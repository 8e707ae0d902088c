import CCurl
package import EideticCore
import Glibc

/// Performs file exchanges on the thread of its owner, which polls it together with its own descriptors.
///
/// All functions except ``wakeUp()`` are called on one thread.
package final class FileTransferLoop {
    private let multiHandle = MultiHandle()
    private var multi: UnsafeMutableRawPointer { multiHandle.pointer }
    private let configuration: CurlConfiguration
    private let share = HandleShare(includingCookies: false)
    private var cookieShares: [Int: HandleShare] = [:]
    private let clock: () -> Duration
    package private(set) var exchanges: [ObjectIdentifier: FileExchange] = [:]
    private var interests: [curl_waitfd] = []

    /// Creates a loop.
    ///
    /// - Parameters:
    ///   - configuration: The options of all exchanges.
    ///   - clock: A function that returns the time for ``FileExchange/lastActivity``.
    package init(configuration: CurlConfiguration, clock: @escaping () -> Duration) {
        self.configuration = configuration
        self.clock = clock
    }

    deinit { for exchange in exchanges.values { curl_multi_remove_handle(multi, exchange.handle.pointer) } }

    /// Starts an exchange; its delegate is called from ``run()`` on.
    ///
    /// - Throws: `outOfMemory`.
    package func start(
        _ request: FileExchangeRequest,
        delegate: any FileExchangeDelegate
    ) throws(EideticError) -> FileExchange {
        guard let handle = EasyHandle() else { throw Self.outOfMemory(request) }
        let exchange = FileExchange(request, delegate: delegate, handle: handle, clock: clock)
        exchange.configure(with: configuration)
        share(for: request).attach(to: handle.pointer, for: exchange.origin)
        guard curl_multi_add_handle(multi, handle.pointer) == CURLM_OK else { throw Self.outOfMemory(request) }
        exchanges[ObjectIdentifier(exchange)] = exchange
        return exchange
    }

    /// Ends an exchange without a call of its delegate; has no effect on one that has ended.
    package func cancel(_ exchange: FileExchange) {
        guard exchanges.removeValue(forKey: ObjectIdentifier(exchange)) != nil else { return }
        curl_multi_remove_handle(multi, exchange.handle.pointer)
    }

    /// Waits for events of the exchanges and of other descriptors.
    ///
    /// - Parameters:
    ///   - descriptors: Other descriptors; the events that occurred replace `returnedEvents`.
    ///   - timeout: The longest time to wait; `nil` for no limit.
    package func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
        interests.removeAll(keepingCapacity: true)
        for descriptor in descriptors {
            interests.append(curl_waitfd(fd: descriptor.number, events: descriptor.events, revents: 0))
        }
        let milliseconds = timeout.map { Int32(clamping: Int64($0.inMilliseconds.rounded(.up))) } ?? .max
        curl_multi_poll(multi, &interests, UInt32(interests.count), max(0, milliseconds), nil)
        for index in descriptors.indices { descriptors[index].returnedEvents = interests[index].revents }
    }

    /// Makes the current or the next call of ``wait(for:timeout:)`` return at once; may be called on any thread.
    package var wakeUp: @Sendable () -> Void {
        let waker = Waker(multiHandle)
        return { waker.wakeUp() }
    }

    /// Performs what can be done without waiting.
    package func run() {
        guard !exchanges.isEmpty else { return }
        var runningCount: Int32 = 0
        curl_multi_perform(multi, &runningCount)
        var remainingCount: Int32 = 0
        while let message = curl_multi_info_read(multi, &remainingCount) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            let code = message.pointee.data.result
            if let exchange = FileExchange.running(on: easy) { finish(exchange, code: code) }
        }
    }

    private func finish(_ exchange: FileExchange, code: CURLcode) {
        exchanges[ObjectIdentifier(exchange)] = nil
        let failure = exchange.failure ?? exchange.fault(after: code)
        if let origin = exchange.origin { share(for: exchange.request).recordEnd(of: origin, code: code) }
        curl_multi_remove_handle(multi, exchange.handle.pointer)
        exchange.finish(failure: failure)
    }

    private func share(for request: FileExchangeRequest) -> HandleShare {
        guard let number = request.cookieJar else { return share }
        if let share = cookieShares[number] { return share }
        let share = HandleShare(includingCookies: true)
        cookieShares[number] = share
        return share
    }

    private static func outOfMemory(_ request: FileExchangeRequest) -> EideticError {
        EideticError(.outOfMemory, message: "no memory for the transfer of \(request.url)")
    }
}

/// A descriptor to wait for.
package struct PollDescriptor: Sendable, Hashable {
    package let number: Int32
    /// The events to wait for, a combination of ``readable`` and ``writable``.
    package var events: Int16
    package var returnedEvents: Int16 = 0

    package static let readable = Int16(CURL_WAIT_POLLIN)
    package static let writable = Int16(CURL_WAIT_POLLOUT)

    package init(_ number: Int32, events: Int16 = readable) { (self.number, self.events) = (number, events) }
}

/// Safe to send: `curl_multi_wakeup` is the function of libcurl that any thread may call, and the handle is retained.
private final class Waker: @unchecked Sendable {
    private let handle: MultiHandle

    init(_ handle: MultiHandle) { self.handle = handle }

    func wakeUp() { curl_multi_wakeup(handle.pointer) }
}
