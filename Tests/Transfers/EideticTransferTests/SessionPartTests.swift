import EideticCore
import Testing

@testable import EideticTransfer

@Suite("the acknowledgements and tasks of a session, without a transfer process")
struct SessionPartTests {
    private let core = SessionCore(
        configuration: BackgroundURLSession.Configuration(identifier: "s"),
        delegate: nil,
        time: SystemTime()
    ) { _ in }

    private func task(_ identifier: UInt64, goal: TaskGoal = .running, isUpload: Bool = false) throws -> TransferTask {
        let request = try BackgroundURLSession.Request(url: "https://example.org/\(identifier)")
        var descriptor = TaskDescriptor(identifier: identifier, request: request)
        if isUpload { descriptor.uploadedFile = "" }
        var state = TaskRecord.State()
        state.goal = goal
        let record = TaskRecord(descriptor: descriptor, state: state, session: core)
        return isUpload ? UploadTask(record: record) : DownloadTask(record: record)
    }

    @Test("B14 a task that changed is sent once, and first over the next connection if that was lost")
    func changes() throws {
        var tasks = SessionTasks()
        let (one, two) = (try task(1), try task(2))
        tasks.insert(one)
        tasks.insert(two)
        for task in [two, one, two] { tasks.markChanged(task) }
        let first = tasks.takeChanged().map(\.taskIdentifier)
        #expect(first == [2, 1] && !tasks.hasChanges)
        tasks.markChanged(one)
        tasks.restoreChanged([two])
        let second = tasks.takeChanged().map(\.taskIdentifier)
        #expect(second == [2, 1])
        let adopted = tasks.adopt(try task(2), for: TransferIdentifier(9))
        #expect(adopted === two && tasks.task(of: TransferIdentifier(9)) === two)
        tasks.abandon(1)
        #expect(!tasks.isOpen(1) && tasks.isOpen(2) && !tasks.areAbandoned)
        tasks.remove(2)
        #expect(tasks[2] == nil && tasks.areAbandoned && !tasks.isEmpty)
    }

    @Test("B14 an upload that is being added is changed when that is done, and added again if the connection is lost")
    func uploads() throws {
        for isLost in [false, true] {
            var tasks = SessionTasks()
            let upload = try task(1, isUpload: true)
            tasks.insert(upload)
            tasks.beginUploads([upload])
            #expect(tasks.withoutUploads([upload]).isEmpty)
            tasks.endUploads([upload], isLost: isLost)
            #expect(tasks.withoutUploads([upload]).count == 1 && tasks.hasChanges == isLost)
            upload.record.update { $0.transfer = TransferIdentifier(7) }
            tasks.endUploads([upload], isLost: false)
            #expect(tasks.hasChanges)
        }
    }

    @Test(
        "B14 an acknowledgement that could not be sent is sent again first, and its transfer is no new task until then"
    )
    func acknowledgements() {
        var acknowledgements = Acknowledgements()
        let transfer = TransferIdentifier(7)
        acknowledgements.add(1, of: transfer)
        acknowledgements.add(2)
        let first = acknowledgements.take()
        #expect(first == [1, 2] && acknowledgements.isEmpty && !acknowledgements.areConfirmed)
        acknowledgements.add(3)
        acknowledgements.restore(first)
        let second = acknowledgements.take()
        #expect(second == [1, 2, 3] && acknowledgements.contains(transfer))
        acknowledgements.confirm(second)
        #expect(acknowledgements.areConfirmed && !acknowledgements.contains(transfer))
        acknowledgements.add(4)
        acknowledgements.drop()
        #expect(acknowledgements.isEmpty && !acknowledgements.areConfirmed)
    }
}
