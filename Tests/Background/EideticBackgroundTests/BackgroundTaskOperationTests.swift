import EideticBackground
import EideticCore
import EideticTestSupport
import Testing

@Suite("Operations of background tasks", .timeLimit(.minutes(1)))
struct BackgroundTaskOperationTests {
    private struct Failure: Error, Equatable {}

    @Test("B04 withBackgroundTask throws the typed error of its operation")
    func typedError() async {
        do throws(EideticError) {
            try await Application.shared.withBackgroundTask(named: "typed") { () throws(EideticError) in
                throw EideticError(.diskFull, message: "no space")
            }
            Issue.record("no error was thrown")
        } catch {
            // Without the type this would not compile.
            #expect(error.code == .diskFull)
        }
    }

    @Test("B04 withBackgroundTask throws any other error as it is, and returns a value")
    func otherErrors() async throws {
        await #expect(throws: Failure()) {
            try await Application.shared.withBackgroundTask(named: "untyped") { throw Failure() }
        }
        #expect(await Application.shared.withBackgroundTask(named: "no error") { 4711 } == 4711)
        #expect(!Application.shared.openTaskNames.contains("no error"))
    }

    @Test("B03 B04 withBackgroundTask ends its task when its operation ends, however busy the caller's actor is")
    func busyCaller() async throws {
        let hasStarted = Gate(), mayEnd = Gate(), isBlocked = Gate(), mayContinue = Gate()
        let caller = Task { @MainActor in
            await Application.shared.withBackgroundTask(named: "busy caller") {
                hasStarted.open()
                await mayEnd.wait()
            }
        }
        await hasStarted.wait()
        let blocker = Task { @MainActor in
            isBlocked.open()
            mayContinue.block()
        }
        defer { mayContinue.open() }
        await isBlocked.wait()
        #expect(Application.shared.openTaskNames.contains("busy caller"))
        mayEnd.open()
        try await eventually("the task is ended", limit: .seconds(30)) {
            !Application.shared.openTaskNames.contains("busy caller")
        }
        mayContinue.open()
        await caller.value
        await blocker.value
    }

    @Test("B04 the cancellation of the calling task cancels the operation")
    func cancellation() async {
        let hasStarted = Gate(), isCancelled = Gate()
        let task = Task {
            await Application.shared.withBackgroundTask(named: "cancelled") {
                await withTaskCancellationHandler {
                    hasStarted.open()
                    await isCancelled.wait()
                    return Task.isCancelled
                } onCancel: {
                    isCancelled.open()
                }
            }
        }
        await hasStarted.wait()
        task.cancel()
        #expect(await task.value)
    }
}
