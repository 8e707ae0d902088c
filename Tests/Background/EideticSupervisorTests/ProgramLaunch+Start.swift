import EideticCore
import EideticSupervisor
import Glibc

extension ProgramLaunch {
    /// Starts the program and waits until it runs; throws with the error of `clone3`, `chdir` or `execve`.
    func start(at places: Places) throws(SystemError) -> ProcessHandle {
        let (process, report) = try begin(at: places)
        report.permitStart()
        while true {
            var polled = pollfd(fd: report.rawValue, events: Int16(POLLIN), revents: 0)
            poll(&polled, 1, -1)
            guard let outcome = report.take() else { continue }
            guard case .failed(let error) = outcome else { return process }
            polled.fd = process.rawValue
            while process.takeEnd() == nil { poll(&polled, 1, -1) }
            throw failure(error)
        }
    }
}
