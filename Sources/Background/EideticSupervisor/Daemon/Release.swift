package import EideticCore
import EideticSupervision
import Glibc
import EideticLifecycle

/// Continues every application of a runtime directory, when no supervisor will.
///
/// It writes no file, goes on after a failure, and needs no record: the marks of the processes and the control groups
/// suffice.
package struct Release {
    private let directory: RuntimeDirectory
    private let configuration: SupervisorConfiguration

    /// Continues the processes of all records, those with the mark of the directory, and everything in the supervisor's
    /// control groups.
    ///
    /// - Throws: `SystemError`; with `EWOULDBLOCK`, a supervisor uses the directory.
    package static func run(_ configuration: SupervisorConfiguration) throws(SystemError) {
        let directory = try RuntimeDirectory(existing: configuration.runtimeDirectory)
        let lock = try directory.lock()
        defer { _ = lock.rawValue }
        Release(directory: directory, configuration: configuration).run()
    }

    /// Continues the processes with the marks of some applications, whose records cannot be used.
    static func run(for identifiers: Set<String>, of context: SupervisorContext) {
        guard !identifiers.isEmpty else { return }
        let release = Release(directory: context.directory, configuration: context.configuration)
        for identifier in identifiers { release.openPages(of: identifier) }
        for status in ProcessStatus.all { release.releaseIfMarked(status) { identifiers.contains($0) } }
    }

    private func run() {
        for identifier in directory.identifiers {
            openPages(of: identifier)
            let bytes = directory.contents(of: directory.recordPath(of: identifier))
            let record = bytes.flatMap { try? WireReader.decode(ApplicationRecord.self, from: $0) }
            if let found = record?.process { release(found) }
        }
        for status in ProcessStatus.all { releaseIfMarked(status) }
        thawGroups()
    }

    /// Admits tasks again: the application decides alone.
    private func openPages(of identifier: String) {
        let path = directory.directory(of: identifier)
        for name in KernelFile.names(in: path) where name.hasPrefix("page.") {
            try? SharedPageFile.open(at: "\(path)/\(name)").setPhase(.foreground, deadline: nil)
        }
    }

    private func release(_ found: ApplicationRecord.ProcessRecord) {
        if let path = found.groupPath { try? GroupFreezer(existing: path).thaw() }
        guard let handle = ProcessHandle(identifier: found.identifier, startTime: found.startTime) else { return }
        thawGroup(of: found.identifier)
        if found.freezer == .signals { SignalFreezer(root: handle, mark: "").thaw() }
    }

    private func releaseIfMarked(_ status: ProcessStatus, isIncluded: (String) -> Bool = { _ in true }) {
        let mark = ProcessStatus.environmentValue(of: SignalFreezer.markName, in: status.identifier)
        guard let mark, mark.hasPrefix("\(directory.path) ") else { return }
        let identifier = mark.dropFirst(directory.path.count + 1).prefix { $0 != "@" }
        guard isIncluded(String(identifier)) else { return }
        thawGroup(of: status.identifier)
        guard ProcessStatus.threads(of: status.identifier).contains(where: { $0.state == "T" }) else { return }
        ProcessHandle(identifier: status.identifier, startTime: status.startTime)?.signal(SIGCONT)
    }

    /// Thaws the group that contains a process, if it is one of an application.
    private func thawGroup(of process: Int32) {
        guard let path = GroupHierarchy.group(of: process), path.split(separator: "/").last?.contains("@") == true
        else { return }
        try? GroupFreezer(existing: path).thaw()
    }

    private func thawGroups() {
        guard let parent = GroupHierarchy.path(for: configuration, directory: directory.path) else { return }
        for name in KernelFile.names(in: parent) { try? GroupFreezer(existing: "\(parent)/\(name)").thaw() }
    }
}
