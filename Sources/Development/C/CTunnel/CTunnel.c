#define _GNU_SOURCE
#include "CTunnel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int eidetic_enter_network(void) { return unshare(CLONE_NEWNET); }

int eidetic_open_tunnel(const char *name) {
    int file = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return -1;
    struct ifreq request;
    memset(&request, 0, sizeof request);
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    if (ioctl(file, TUNSETIFF, &request) < 0) {
        int error = errno;
        close(file);
        errno = error;
        return -1;
    }
    return file;
}
