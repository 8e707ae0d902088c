import EideticCore

/// The open files and the memory of a process.
package struct ProcessResources: Sendable {
    /// The number of open files.
    package let descriptors: Int
    /// The memory that only this process has written, as the kernel counts it.
    package let kilobytes: Int

    /// The resources of this process.
    package static var current: ProcessResources {
        let files = FileSystem()
        let names = (try? files.entryNames(in: "/proc/self/fd").count) ?? 0
        let text = String(decoding: (try? files.contents(of: "/proc/self/smaps_rollup")) ?? [], as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("Anonymous:") }
        let kilobytes = line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return ProcessResources(descriptors: names, kilobytes: kilobytes)
    }
}
