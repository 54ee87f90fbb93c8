#!/usr/bin/perl
# What systemd does with a service of Type=notify, WatchdogSec and Restart=always: listens on NOTIFY_SOCKET, prints what it
# is told, kills a main process that does not say in time that it lives, and starts it again.
#
#   service-manager.pl SOCKET WATCHDOG_SECONDS PROGRAM ARGUMENTS…
use strict;
use warnings;
use IO::Select;
use IO::Socket::UNIX;
use POSIX ':sys_wait_h';
use Time::HiRes 'time';

$| = 1;
my ($path, $seconds, @command) = @ARGV;
unlink $path;
my $socket = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => $path) or die "no socket: $!";
# The service may run as another user.
chmod 0666, $path;
my $select = IO::Select->new($socket);
my $stops = 0;
$SIG{TERM} = sub { $stops = 1 };

my ($pid, $fed);

sub start {
    $pid = fork();
    if ($pid == 0) {
        $ENV{NOTIFY_SOCKET} = $path;
        $ENV{WATCHDOG_USEC} = int($seconds * 1_000_000);
        $ENV{WATCHDOG_PID} = $$;
        exec @command or die "no program: $!";
    }
    # Only a service that is ready is watched.
    $fed = undef;
    print "started $pid\n";
}

start();
my $told = 0;
for (;;) {
    if ($select->can_read(0.05)) {
        $socket->recv(my $message, 4096);
        for my $line (split /\n/, $message) {
            next if $line =~ /^(BARRIER|$)/;
            print "told $line\n";
            $fed = time if $line =~ /^(READY|WATCHDOG)=1$/;
        }
    }
    if ($stops && !$told) { kill 'TERM', $pid; $told = 1 }
    if (defined $fed && time - $fed > $seconds) { print "watchdog kills $pid\n"; kill 'KILL', $pid; $fed = undef }
    if (waitpid($pid, WNOHANG) == $pid) {
        print "ended $pid\n";
        last if $stops;
        start();
    }
}
