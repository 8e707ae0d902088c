/// The text of a server's configuration file.
enum NginxConfigurationFile {
    static func text(
        for configuration: Nginx.Configuration,
        authority: TestAuthority?,
        ports: NginxPorts,
        directory: String
    ) -> String {
        """
        daemon off;
        master_process off;
        pid \(directory)/nginx.pid;
        error_log stderr notice;
        events { worker_connections 1024; }
        http {
            types {
                text/html html; text/plain txt; image/jpeg jpg jpeg; image/png png; image/gif gif; image/webp webp;
                image/tiff tif tiff; image/avif avif; image/heic heic; image/bmp bmp; image/svg+xml svg;
            }
            default_type application/octet-stream;
            client_body_temp_path \(directory)/body;
            proxy_temp_path \(directory)/proxy;
            fastcgi_temp_path \(directory)/fastcgi;
            uwsgi_temp_path \(directory)/uwsgi;
            scgi_temp_path \(directory)/scgi;
            keepalive_requests 100000;
            sendfile on;
            log_format tabs '\(Nginx.Request.logFormat)';
            access_log \(directory)/access.log tabs;
            \(configuration.http)
            server {
                listen 127.0.0.1:\(ports.plain);
                \(authority.map { tlsDirectives(for: $0, port: ports.secure) } ?? "")
                root \(directory)/files;
                location = /barrier { access_log off; return 204; }
                \(configuration.server)
            }
        }

        """
    }

    private static func tlsDirectives(for authority: TestAuthority, port: Int) -> String {
        """
        listen 127.0.0.1:\(port) ssl http2;
        listen 127.0.0.2:\(port) ssl http2;
        ssl_certificate \(authority.certificateFile);
        ssl_certificate_key \(authority.keyFile);
        """
    }
}
