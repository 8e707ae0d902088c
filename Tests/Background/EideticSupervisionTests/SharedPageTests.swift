import EideticCore
import EideticSupervision
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Shared page")
struct SharedPageTests {
    private let directory: TemporaryDirectory
    private var path: String { "\(directory.path)/page" }

    init() throws { directory = try TemporaryDirectory(named: "page") }

    private func create() throws(SystemError) -> SharedPageFile {
        try SharedPageFile.create(at: path, generation: 3, token: [UInt8](1...16))
    }

    @Test("B03 both sides see the other's words")
    func words() throws {
        let file = try create()
        let page = try SharedPage(mapping: file.descriptor)
        #expect(page.taskWords.phase == .foreground && page.deadline == nil && file.openTasks == 0)
        try file.setPhase(.background, deadline: .milliseconds(1_500))
        #expect(page.taskWords.phase == .background && page.deadline == .milliseconds(1_500))
        page.taskWords.publish(openTasks: 7)
        #expect(file.openTasks == 7)
        try file.setPhase(.expiring, deadline: nil)
        #expect(page.taskWords.phase == .expiring && page.deadline == nil)
    }

    @Test("B08 the next supervisor finds the page, the token and the count")
    func reopened() throws {
        let created = try create()
        let page = try SharedPage(mapping: created.descriptor)
        page.taskWords.publish(openTasks: 2)
        let file = try SharedPageFile.open(at: path)
        #expect(file.openTasks == 2 && file[.generation] == 3)
        #expect(file[.token] == 0x0102_0304_0506_0708 && file[.tokenEnd] == 0x090a_0b0c_0d0e_0f10)
    }

    @Test("B01 an application that truncates its page harms nobody else")
    func truncated() throws {
        let file = try create()
        #expect(ftruncate(file.descriptor, 0) == 0)
        #expect(file.openTasks == nil && file[.generation] == nil)
        #expect(throws: SystemError.self) { try SharedPage(mapping: file.descriptor) }
        #expect(throws: SystemError.self) { try SharedPageFile.open(at: path) }
    }

    @Test("B01 a phase that does not exist admits no task")
    func unknownPhase() throws {
        let file = try create()
        let page = try SharedPage(mapping: file.descriptor)
        try file.write(4, to: .phase)
        #expect(page.taskWords.phase == .terminating)
    }

    @Test("B01 neither a link nor another file is taken for a page")
    func otherFiles() throws {
        #expect(symlink("/etc/passwd", path) == 0)
        #expect(throws: SystemError.self) { try create() }
        #expect(throws: SystemError.self) { try SharedPageFile.open(at: path) }
        let empty = try FileSystem().open("\(directory.path)/other", flags: O_RDWR | O_CREAT)
        #expect(ftruncate(empty.rawValue, 8_192) == 0)
        #expect(throws: SystemError.self) { try SharedPage(mapping: empty.rawValue) }
    }

    /// An application whose count changes between two readings.
    private final class RestlessApplication: SystemCallObserver {
        private let page: SharedPageFile
        private let count = Guarded<UInt64>(0)

        init(page: SharedPageFile) { self.page = page }

        func willPerform(_ call: SystemCall, path: String?) -> Int32? {
            guard call == .pread else { return nil }
            let next = count.withLock { count in
                count = 1 - count
                return count
            }
            try? page.write(next, to: .openTasks)
            return nil
        }
    }

    @Test("B03 a count that changes whenever it is read is at least one")
    func restlessCount() throws {
        let files = FileSystem(observer: RestlessApplication(page: try create()))
        #expect(try SharedPageFile.open(at: path, files: files).openTasks == 1)
    }
}
