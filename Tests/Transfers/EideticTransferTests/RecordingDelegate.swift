import EideticCore
import EideticTransfer
import Glibc

/// A delegate that records what it is told.
@MainActor
final class RecordingDelegate: BackgroundURLSessionDelegate {
    enum Call: Hashable {
        case finished(UInt64, contents: String)
        case completed(UInt64, EideticError.Code?)
        case sent(UInt64, TransferProgress)
        case wrote(UInt64, TransferProgress)
        case finishedEvents
        case invalid(EideticError.Code?)
    }

    private(set) var calls: [Call] = []
    private(set) var paths: [String] = []
    /// Called in each call, before it is recorded.
    var hook: ((Call) -> Void)?
    private var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    nonisolated init() {}

    /// The tasks that ended without an error, in the order of the calls.
    var endedTasks: [UInt64] {
        calls.compactMap { if case .completed(let task, nil) = $0 { task } else { nil } }
    }

    /// Waits until a number of calls were made.
    func waitForCalls(_ count: Int) async {
        if calls.count >= count { return }
        await withCheckedContinuation { waiters.append((count, $0)) }
    }

    /// Waits until the calls satisfy a condition.
    func wait(until condition: @MainActor @Sendable (RecordingDelegate) -> Bool) async {
        // No call is made between the condition and the wait: both are on the main actor.
        while !condition(self) { await waitForCalls(calls.count + 1) }
    }

    private func record(_ call: Call) {
        hook?(call)
        calls.append(call)
        let ready = waiters.filter { $0.count <= calls.count }
        waiters.removeAll { $0.count <= calls.count }
        for waiter in ready { waiter.continuation.resume() }
    }

    func urlSession(
        _ session: BackgroundURLSession,
        downloadTask task: DownloadTask,
        didFinishDownloadingTo path: String
    ) {
        paths.append(path)
        let bytes = (try? FileSystem().contents(of: path)) ?? Array("no file".utf8)
        record(.finished(task.taskIdentifier, contents: String(decoding: bytes, as: UTF8.self)))
    }

    func urlSession(
        _ session: BackgroundURLSession,
        task: TransferTask,
        didCompleteWithError error: EideticError?
    ) {
        record(.completed(task.taskIdentifier, error?.code))
    }

    func urlSession(
        _ session: BackgroundURLSession,
        uploadTask task: UploadTask,
        didSendBodyData progress: TransferProgress
    ) {
        record(.sent(task.taskIdentifier, progress))
    }

    func urlSession(
        _ session: BackgroundURLSession,
        downloadTask task: DownloadTask,
        didWriteData progress: TransferProgress
    ) {
        record(.wrote(task.taskIdentifier, progress))
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: BackgroundURLSession) { record(.finishedEvents) }

    func urlSession(_ session: BackgroundURLSession, didBecomeInvalidWithError error: EideticError?) {
        record(.invalid(error?.code))
    }
}
