import EideticCore
import Glibc
import Synchronization

/// Threads that open and close tasks at random, and mark in a shared file that they are inside one.
struct Storm: Sendable {
    static let threadCount = 4
    /// The distance of the threads' marks, a cache line each.
    static let stride = 64

    private let memory: UInt
    private let tasks: TaskCounter

    init(flagsPath: String, tasks: TaskCounter) {
        self.tasks = tasks
        let descriptor = open(flagsPath, O_RDWR | O_CLOEXEC)
        let address = mmap(nil, 4_096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        memory = address.map { UInt(bitPattern: $0) } ?? 0
    }

    func start() {
        for number in 0..<Self.threadCount {
            Thread.start(name: "storm") { run(number) }
        }
    }

    private func run(_ number: Int) {
        guard let mark = UnsafeMutablePointer<Atomic<UInt64>>(bitPattern: memory + UInt(number * Self.stride)) else {
            exit(5)
        }
        var random = SystemRandomNumberGenerator()
        var total: UInt64 = 0
        while true {
            if tasks.begin() {
                mark.pointee.store(1, ordering: .sequentiallyConsistent)
                work(Int.random(in: 0...2_000, using: &random), total: &total)
                mark.pointee.store(0, ordering: .sequentiallyConsistent)
                tasks.end()
            }
            // Mostly idle, so that the count is often zero.
            if Int.random(in: 0...3, using: &random) == 0 { usleep(UInt32.random(in: 0...300, using: &random)) }
            work(Int.random(in: 0...2_000, using: &random), total: &total)
        }
    }

    @inline(never)
    private func work(_ rounds: Int, total: inout UInt64) {
        for round in 0..<rounds { total = total &* 31 &+ UInt64(round) }
    }
}
