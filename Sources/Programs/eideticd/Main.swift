import EideticCore
import EideticSupervisor
import Glibc

/// The supervisor of applications: `eideticd`.
@main
struct Main {
    static func main() {
        do throws(EideticError) {
            exit(try run(Options(CommandLine.arguments.dropFirst())))
        } catch {
            _ = "eideticd: \(error.message)\n".withCString { write(STDERR_FILENO, $0, strlen($0)) }
            exit(error.code == .invalidArgument ? 64 : 1)
        }
    }

    private static func run(_ options: Options) throws(EideticError) -> Int32 {
        switch options.action {
        case .help:
            print(Options.help)
            return 0
        case .release:
            do throws(SystemError) { try Release.run(options.configuration) } catch { throw EideticError(error) }
            return 0
        case .supervise where !options.configuration.hasKeeper: return try supervise(options.configuration)
        case .supervise: return keep(options.configuration)
        }
    }

    private static func keep(_ configuration: SupervisorConfiguration) -> Int32 {
        Keeper(
            supervise: {
                do throws(EideticError) {
                    return try supervise(configuration)
                } catch {
                    _ = "eideticd: \(error.message)\n".withCString { write(STDERR_FILENO, $0, strlen($0)) }
                    return error.code == .refused ? Keeper.refusedStatus : 1
                }
            },
            giveUp: { try? Release.run(configuration) }
        ).run()
    }

    private static func supervise(_ configuration: SupervisorConfiguration) throws(EideticError) -> Int32 {
        do throws(SystemError) {
            let supervisor = try Supervisor(configuration)
            let freezer = supervisor.controlGroup.map { "cgroup2 at \($0)" } ?? "sigstop"
            _ = "eideticd: ready, freezer \(freezer)\n".withCString { write(STDOUT_FILENO, $0, strlen($0)) }
            supervisor.run()
            return 0
        } catch {
            guard error.call == .flock else { throw EideticError(error) }
            throw EideticError(.refused, message: "another eideticd uses \(configuration.runtimeDirectory)")
        }
    }
}
