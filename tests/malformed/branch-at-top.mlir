cf.br ^exit
