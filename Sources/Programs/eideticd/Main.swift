import EideticCLI
import EideticCore
import EideticSupervision
import EideticSupervisor
import Glibc

/// The supervisor of applications: `eideticd`.
@main
struct Main {
    private static let command = Command(
        name: "eideticd",
        summary: "suspend applications in the background, limit their background time, and wake them",
        options: SupervisorOptions.all,
        manualSection: 8,
        run: { arguments in
            do throws(EideticError) {
                exit(try run(SupervisorOptions.configuration(from: arguments), for: arguments))
            } catch {
                report(error)
                return error.code == .invalidArgument ? .usage : .failure
            }
        }
    )

    static func main() {
        exit(CommandRunner.run(Array(CommandLine.arguments.dropFirst()), root: command).rawValue)
    }

    private static func run(
        _ configuration: SupervisorConfiguration,
        for arguments: Arguments
    ) throws(EideticError) -> Int32 {
        if arguments.contains(SupervisorOptions.release) {
            do throws(SystemError) { try Release.run(configuration) } catch { throw EideticError(error) }
            return 0
        }
        if configuration.runtimeDirectory == SupervisionProtocol.fallbackRuntimeDirectory, geteuid() != 0 {
            let path = configuration.runtimeDirectory
            report(
                "warning: XDG_RUNTIME_DIR is not set to an absolute path, and /run/user/\(geteuid()) is missing: sockets are in \(path)"
            )
        }
        return configuration.hasKeeper ? keep(configuration) : try supervise(configuration)
    }

    private static func keep(_ configuration: SupervisorConfiguration) -> Int32 {
        Keeper(
            supervise: {
                do throws(EideticError) {
                    return try supervise(configuration)
                } catch {
                    report(error)
                    if error.code == .refused { return Keeper.refusedStatus }
                    let directory = try? RuntimeDirectory(path: configuration.runtimeDirectory)
                    return directory == nil ? Keeper.unusableStatus : 1
                }
            },
            giveUp: { try? Release.run(configuration) }
        ).run()
    }

    private static func supervise(_ configuration: SupervisorConfiguration) throws(EideticError) -> Int32 {
        do throws(SystemError) {
            let supervisor = try Supervisor(configuration)
            let freezer = supervisor.controlGroup.map { "cgroup2 at \($0)" } ?? "sigstop"
            TextStream.output.write(Array("eideticd: ready, freezer \(freezer)\n".utf8))
            supervisor.run()
            return 0
        } catch {
            guard error.call == .flock else { throw EideticError(error) }
            throw EideticError(.refused, message: "another eideticd uses \(configuration.runtimeDirectory)")
        }
    }

    private static func report(_ error: EideticError) { report(error.message) }

    private static func report(_ text: String) { TextStream.errors.write(Array("eideticd: \(text)\n".utf8)) }
}
