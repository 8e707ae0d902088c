import EideticCore
import Glibc

/// The output and exit status of a running program, and the threads that collect them.
///
/// The threads retain it until they end.
final class ProcessMonitor: Sendable {
    private enum Stream { case output, errors }

    private struct TextWaiter {
        let number: UInt64
        let text: [UInt8]
        let times: Int
        let resume: @Sendable (Bool) -> Void
    }

    private struct State {
        var output: [UInt8] = []
        var errors: [UInt8] = []
        var openStreams = 2
        var status: ExitStatus?
        var textWaiters: [TextWaiter] = []
        var lastWaiter: UInt64 = 0
        var endWaiters: [@Sendable (Subprocess.Result) -> Void] = []

        var result: Subprocess.Result? {
            guard let status, openStreams == 0 else { return nil }
            return Subprocess.Result(status: status, output: output, errors: errors)
        }

        /// Returns `true` if the output contains the text at least `times` times; a single occurrence may be in the
        /// errors.
        func contains(_ text: [UInt8], times: Int) -> Bool {
            if times == 1 { return output.contains(text) || errors.contains(text) }
            let target = String(decoding: text, as: UTF8.self)
            return String(decoding: output, as: UTF8.self).ranges(of: target).count >= times
        }
    }

    private let identifier: pid_t
    /// Called, on a thread of this object, after the output has grown or the process has ended.
    private let didChange: @Sendable () -> Void
    private let state = Guarded(State())

    init(identifier: pid_t, didChange: @escaping @Sendable () -> Void) {
        self.identifier = identifier
        self.didChange = didChange
    }

    var currentText: (output: String, errors: String) {
        state.withLock { (String(decoding: $0.output, as: UTF8.self), String(decoding: $0.errors, as: UTF8.self)) }
    }

    /// Starts the threads that write the input, read the output and errors, and wait for the exit status.
    func startThreads(for pipes: consuming ProcessPipes, input: [UInt8]) {
        let ends = pipes.relinquishParents()
        Thread.start(name: "input") { Self.write(input, to: ends.input) }
        Thread.start(name: "output") { self.read(ends.output, into: .output) }
        Thread.start(name: "errors") { self.read(ends.errors, into: .errors) }
        Thread.start(name: "process") { self.reap() }
    }

    func kill(_ signal: Int32) {
        // While the lock is held the process is not reaped, so its identifier cannot be reused.
        state.withLock { state in
            if state.status == nil { _ = Glibc.kill(identifier, signal) }
        }
    }

    func waitUntilExit() async -> Subprocess.Result {
        await withCheckedContinuation { continuation in
            let result = state.withLock { state in
                if state.result == nil { state.endWaiters.append { continuation.resume(returning: $0) } }
                return state.result
            }
            if let result { continuation.resume(returning: result) }
        }
    }

    /// Waits for a text; returns `false` if the streams end without it, the task is cancelled, or the time has passed.
    func waitForOutput(_ text: [UInt8], times: Int, limit: Duration) async -> Bool {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let timer = Task { [weak self] in
            if (try? await Task.sleep(for: limit)) != nil { self?.endWaiter(number) }
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome: Bool? = state.withLock { state in
                    if state.contains(text, times: times) { return true }
                    if state.openStreams == 0 || Task.isCancelled { return false }
                    let waiter = TextWaiter(number: number, text: text, times: times) {
                        continuation.resume(returning: $0)
                    }
                    state.textWaiters.append(waiter)
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            endWaiter(number)
        }
    }

    /// Ends the wait for a text that has not come.
    private func endWaiter(_ number: UInt64) {
        let waiter = state.withLock { state in
            state.textWaiters.firstIndex { $0.number == number }.map { state.textWaiters.remove(at: $0) }
        }
        waiter?.resume(false)
    }

    /// Writes the input; ignores the failure if the program does not read all of it.
    private static func write(_ input: [UInt8], to number: Int32) {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let file = FileDescriptor(adopting: number)
        try? input.withUnsafeBytes { try FileSystem().write($0, to: file) }
    }

    private func read(_ number: Int32, into stream: Stream) {
        let file = FileDescriptor(adopting: number)
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while let count = try? chunk.withUnsafeMutableBytes({ try FileSystem().read(file, into: $0) }), count > 0 {
            update { state in
                if stream == .output { state.output += chunk[..<count] } else { state.errors += chunk[..<count] }
            }
        }
        update { $0.openStreams -= 1 }
    }

    private func reap() {
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        update { state in
            var status: Int32 = 0
            waitpid(identifier, &status, 0)
            state.status = ExitStatus(waitStatus: status)
        }
    }

    /// Updates the state, then resumes the waiters whose condition is met, without the lock.
    private func update(_ body: (inout State) -> Void) {
        let callbacks: [@Sendable () -> Void] = state.withLock { state in
            body(&state)
            var callbacks: [@Sendable () -> Void] = []
            var remainingWaiters: [TextWaiter] = []
            for waiter in state.textWaiters {
                let isFound = state.contains(waiter.text, times: waiter.times)
                if isFound || state.openStreams == 0 {
                    callbacks.append { waiter.resume(isFound) }
                } else {
                    remainingWaiters.append(waiter)
                }
            }
            state.textWaiters = remainingWaiters
            if let result = state.result {
                callbacks += state.endWaiters.map { resume in { resume(result) } }
                state.endWaiters = []
            }
            return callbacks
        }
        for callback in callbacks { callback() }
        didChange()
    }
}
