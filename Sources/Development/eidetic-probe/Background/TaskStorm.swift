import EideticBackground
import EideticCore
import Glibc
import Synchronization

/// Opens and closes tasks on several threads, and counts the open ones.
final class TaskStorm: Sendable {
    let openTaskCount = Atomic<Int>(0)

    func start(threadCount threads: Int, application: Application) {
        for _ in 0..<threads { Thread.start(name: "storm") { self.run(in: application) } }
    }

    private func run(in application: Application) {
        var pause = 0
        while true {
            let task = application.beginBackgroundTask(withName: "storm")
            if task != .invalid {
                openTaskCount.add(1, ordering: .sequentiallyConsistent)
                sched_yield()
                openTaskCount.subtract(1, ordering: .sequentiallyConsistent)
                application.endBackgroundTask(task)
            }
            pause = (pause + 7) % 100
            usleep(UInt32(pause))
        }
    }
}
