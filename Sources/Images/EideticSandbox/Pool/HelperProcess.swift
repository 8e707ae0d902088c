import CLinux
import EideticCodecs
import EideticCore
import Glibc

/// A decoding process, from the side of the application.
///
/// Unchecked: the pool lends it to one thread at a time.
package final class HelperProcess: @unchecked Sendable {
    /// The description that the process has sent before it read an image.
    package private(set) var description: HelperDescription
    /// The time since which the process waits for an image; guarded by the lock of the pool.
    var idleSince = ContinuousClock.now
    package private(set) var imageCount = 0
    /// The memory for encoded bytes.
    private var input: MappedMemory?
    /// The memory for small results and durations.
    private(set) var window: MappedMemory
    /// A Boolean value indicating whether a reply is to come that nobody waits for.
    private(set) var isBusy = false
    private var isLowered = false
    private let socket: PacketSocket
    private let process: ChildProcess
    /// The way in which the process has ended by itself; `nil` if it has not.
    private var endState: ChildProcess.End?
    /// The number of restarts of the pool before this process was started.
    let generation: Int

    /// The memory for small results: 4 MiB and 64 KiB.
    package static let windowSize = (4 << 20) + (64 << 10)

    /// Starts a process, and waits until it has restricted itself.
    init(
        starting program: HelperProgram,
        generation: Int = 0,
        within duration: Duration
    ) throws(HelperStartFailure) {
        self.generation = generation
        do throws(SystemError) {
            let (own, other) = try PacketSocket.makePair()
            process = try ChildProcess.start(program, passing: other)
            socket = own
        } catch {
            throw HelperStartFailure(of: program, error: error)
        }
        description = HelperDescription(restrictions: [], formats: [], addressSpace: 0)
        let memory: SharedMemory
        do throws(EideticError) {
            memory = try SharedMemory(byteCount: Self.windowSize)
            window = try memory.map()
        } catch {
            throw HelperStartFailure(.momentary, of: program, reason: error.message)
        }
        do throws(EideticError) {
            guard case .ready(let description) = try reply(within: duration, context: nil) else {
                throw EideticError(.decoderFailed, message: "it does not answer as a decoding process")
            }
            self.description = description
        } catch {
            throw HelperStartFailure(kind(of: error), of: program, reason: error.message)
        }
        if let mismatch = VersionMismatch(
            of: "this program",
            version: HelperDescription.currentVersion,
            and: "it",
            version: description.version
        ) {
            throw HelperStartFailure(.permanent, of: program, reason: mismatch.description)
        }
        do throws(EideticError) {
            try send(.window(byteCount: memory.byteCount), descriptors: [memory.rawValue])
        } catch {
            throw HelperStartFailure(.momentary, of: program, reason: error.message)
        }
    }

    private func kind(of error: EideticError) -> HelperStartFailure.Kind {
        switch endState {
        // The signal of a filter of system calls around the application.
        case .exit, .signal(SIGSYS): .permanent
        case .signal, .unknown: .momentary
        case nil: error.code == .limitExceeded ? .silence : .permanent
        }
    }

    /// Returns whether the process has the library of a format; `true` for one that needs none, or is not known.
    func canDecode(_ format: ImageFormat?) -> Bool {
        guard let format, ImageDecoder.loadedFormats.contains(format) else { return true }
        return description.formats.contains(format.rawValue)
    }

    package var hasEnded: Bool { process.hasEnded }

    /// A Boolean value indicating whether the process waits for a request, and has sent nothing that nobody asked for.
    var isQuiet: Bool {
        var entry = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
        return !hasEnded && poll(&entry, 1, 0) == 0
    }

    package var identifier: Int32 { process.identifier }

    func countImage() { imageCount += 1 }

    /// Copies encoded bytes into the memory of the process.
    func write(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        if bytes.count > input?.byteCount ?? 0 {
            // A quarter more, for images that arrive piece by piece.
            let memory = try SharedMemory(byteCount: max(1 << 20, bytes.count + bytes.count / 4))
            let mapped = try memory.map()
            try send(.input(byteCount: memory.byteCount), descriptors: [memory.rawValue])
            input = mapped
        }
        input?.base.copyMemory(from: bytes.baseAddress ?? UnsafeRawPointer(window.base), byteCount: bytes.count)
    }

    var sharedByteCount: Int { (input?.byteCount ?? 0) + window.byteCount }

    /// Limits the memory of the process beyond what it needs when it is idle, and its processor time.
    func limit(memory: Int, processorTime: Duration) {
        let (sum, overflow) = (description.addressSpace + sharedByteCount).addingReportingOverflow(memory)
        eidetic_limit_memory(process.identifier, overflow ? Int.max : sum)
        eidetic_limit_processor_time(process.identifier, min(1 << 30, processorTime.components.seconds + 1))
    }

    /// Sets whether the process gives way to others.
    ///
    /// - Returns: `false` if the system refuses, as it does when a user without privileges raises a process again.
    @discardableResult
    func setLowered(_ isLowered: Bool) -> Bool {
        guard isLowered != self.isLowered else { return true }
        guard ProcessPriority.set(isLowered ? 10 : 0, of: process.identifier) else { return false }
        self.isLowered = isLowered
        return true
    }

    /// Ends the process, whatever it does.
    package func end() { process.end() }

    deinit { process.end() }
}

// MARK: Messages
extension HelperProcess {
    /// The error of a process that has ended, or broken its protocol.
    private static func failure(_ reason: String) -> EideticError {
        EideticError(.decoderFailed, message: "the decoding process \(reason)")
    }

    func send(_ request: HelperRequest, descriptors: [Int32] = []) throws(EideticError) {
        do throws(SystemError) {
            // A few packets fit into the queue, and the process reads them all before the next is sent.
            guard try socket.send(WireWriter.encode(request), descriptors: descriptors) else {
                throw SystemError(.send, errorNumber: EAGAIN)
            }
        } catch {
            throw Self.failure("ended: \(error)")
        }
    }

    /// Sends a request and waits for its reply.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - descriptors: The descriptors that go with it.
    ///   - duration: The longest time; the process is ended after it.
    ///   - context: Cancels the wait; the process then goes on.
    ///   - onSend: Called once the request, with its descriptors, is sent.
    ///   - onWait: Called about every 20 ms with the time so far.
    /// - Returns: The reply; not a failure.
    /// - Throws: `limitExceeded` after `duration`, `decoderFailed` if the process ends or breaks the protocol, the
    ///   error that it replies, and `cancelled`.
    func reply(
        to request: HelperRequest,
        descriptors: [Int32] = [],
        within duration: Duration,
        context: JobContext?,
        onSend: () -> Void = {},
        onWait: (Duration) -> Void
    ) throws(EideticError) -> HelperReply {
        try send(request, descriptors: descriptors)
        onSend()
        isBusy = true
        let reply = try reply(within: duration, context: context, onWait: onWait)
        guard case .failure(let code, let message) = reply else { return reply }
        throw EideticError(code == .cancelled ? .decoderFailed : code, message: message)
    }

    /// Waits for a reply that nobody needs.
    ///
    /// - Returns: `true` if it came in time; otherwise, `false`, and the process is to be ended.
    func drain(within duration: Duration) -> Bool {
        guard isBusy else { return true }
        return (try? reply(within: duration, context: nil)) != nil
    }

    /// The time between two looks at the cancellation of a wait.
    static let interval = Duration.milliseconds(20)

    private func reply(
        within duration: Duration,
        context: JobContext?,
        onWait: (Duration) -> Void = { _ in }
    ) throws(EideticError) -> HelperReply {
        var waited = Duration.zero
        while true {
            try context?.checkCancellation()
            if let reply = try received() { return reply }
            let start = ContinuousClock.now
            var entry = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
            _ = poll(&entry, 1, Int32(Self.interval.inMilliseconds))
            // Time in which this process was stopped, and its child as well, is not charged.
            waited += min(start.duration(to: .now), Self.interval * 2)
            guard entry.revents == 0 else { continue }
            guard waited < duration else {
                end()
                throw EideticError(.limitExceeded, message: "decoding took longer than the limit of \(duration)")
            }
            onWait(waited)
        }
    }

    /// Returns the next reply; `nil` if there is none yet.
    private func received() throws(EideticError) -> HelperReply? {
        do {
            switch try socket.receive() {
            case .none: return nil
            case .end:
                endState = process.endState
                end()
                if case .signal(let number) = endState { throw Self.failure("ended by signal \(number)") }
                throw Self.failure("ended")
            case .packet(let packet):
                isBusy = false
                return try WireReader.decode(HelperReply.self, from: packet.bytes)
            }
        } catch let error as EideticError {
            throw error
        } catch {
            end()
            throw Self.failure("sent a message that cannot be read: \(error)")
        }
    }
}
