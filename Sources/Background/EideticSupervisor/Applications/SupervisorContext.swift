import EideticCore
import Glibc

/// The means that the applications of a supervisor share.
final class SupervisorContext {
    let configuration: SupervisorConfiguration
    let directory: RuntimeDirectory
    let poller: Poller
    let log: ActivityLog
    let generation: UInt32
    var manifests: ManifestDirectories { configuration.manifests }
    private var limiters: [Int32: MessageLimiter] = [:]
    /// The number of changes of applications that no line of the log tells.
    var changeCount: UInt64 = 0
    /// The first processes of all applications.
    var firstProcesses: Set<Int32> = []
    /// The processes to which the kernel gives the orphans of applications: this one, and its keeper.
    private let adoptiveParents: [Int32]
    /// The place of control groups; `nil` if signals are used.
    let hierarchy: GroupHierarchy?
    let clock: ScheduleClock
    /// The services of the desktop; `nil` until the supervisor runs.
    weak var desktop: DesktopServices?
    let sound: SoundServer
    let transfers: ApplicationTransfers
    /// Forgets an application that nothing refers to.
    var forget: (_ identifier: String) -> Void = { _ in }

    init(configuration: SupervisorConfiguration, directory: RuntimeDirectory, poller: Poller) throws(SystemError) {
        self.configuration = configuration
        self.directory = directory
        self.poller = poller
        adoptiveParents = [getpid()] + (configuration.hasKeeper ? [getppid()] : [])
        transfers = ApplicationTransfers(configuration.transfers.map { TransferProcessLink($0, poller: poller) })
        sound = SoundServer(poller: poller)
        log = ActivityLog(directory: directory)
        // Without it, schedules end with the supervisor.
        try? FileSystem().makeDirectories(configuration.stateDirectory)
        clock = ScheduleClock(stateDirectory: configuration.stateDirectory, directory: directory)
        generation = try directory.takeGeneration()
        hierarchy = try Self.makeHierarchy(configuration, directory: directory)
        if hierarchy == nil {
            let message = "no writable control group of version 2: applications are stopped by SIGSTOP"
            Log.write(.warning, category: .background, message: message)
            log.append(message, for: "eideticd")
        }
    }

    /// Finds the place of control groups; throws only if groups are demanded and cannot be used.
    private static func makeHierarchy(
        _ configuration: SupervisorConfiguration,
        directory: RuntimeDirectory
    ) throws(SystemError) -> GroupHierarchy? {
        if configuration.freezer == .signals { return nil }
        do throws(SystemError) {
            guard let path = GroupHierarchy.path(for: configuration, directory: directory.path) else {
                throw SystemError(.open, errorNumber: ENOENT, path: "a mounted cgroup2 file system")
            }
            return try GroupHierarchy(at: path)
        } catch {
            if configuration.freezer == .group { throw error }
            Log.write(.info, category: .background, message: "no control groups: \(error)")
            return nil
        }
    }

    /// The lines about the desktop for `eidetic app why`.
    var busLines: [String] { desktop?.lines ?? [] }

    /// The orphans of all applications that have not ended.
    var orphans: [Int32] { adoptiveParents.flatMap(orphans) }

    private func orphans(of parent: Int32) -> [Int32] {
        SignalFreezer.children(of: parent).filter { child in
            !firstProcesses.contains(child) && !adoptiveParents.contains(child) && child != transfers.link?.identifier
        }
    }

    func collectOrphans() {
        for orphan in orphans(of: getpid()) { waitpid(orphan, nil, WNOHANG) }
    }

    /// Returns the limit of the messages of a process; a new connection does not renew it.
    func limiter(of process: Int32) -> MessageLimiter {
        if let known = limiters[process] { return known }
        if limiters.count >= 256 { limiters = limiters.filter { !$1.isUnused } }
        let limiter = MessageLimiter(rate: configuration.messageRate)
        limiters[process] = limiter
        return limiter
    }

    func files(of identifier: String) -> ApplicationFiles {
        ApplicationFiles(of: identifier, in: directory, stateDirectory: configuration.stateDirectory)
    }

    /// The number before those of this supervisor, unlike those of an earlier one, to which processes may still refer.
    var firstNumber: UInt64 { UInt64(generation) << 32 }

    static func makeToken(length: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}
